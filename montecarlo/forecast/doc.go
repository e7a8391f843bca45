// Package forecast says what networks are worth that were not trained: the expected |error| of
// a code, a training and a decoder under the perceived-label model (perceived.Model), with an
// interval.
//
// [Forecaster.Codes] forecasts many codes, from a label noise or from networks that were measured; then a
// forecast is relative to the user's own network. [Forecaster.Decide] says what to do about that network,
// [Forecaster.Probe] which second one would tell more, and [Forecaster.Compare] puts a network beside the
// model. [Resolution] forecasts how errors depend on the number of levels.
package forecast
