// Package forecast says what networks are worth that were not trained: the expected |error| of
// a code, a training and a decoder under the perceived-label model (perceived.Model), with an
// interval.
//
// [Places.Errors] is the expected error of one network. [Forecaster.Codes] forecasts
// many codes. [Fit] fits the model to networks that were trained, and [Forecaster.Compare] puts a
// network beside it.
package forecast
