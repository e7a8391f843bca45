// Package forecast says what networks are worth that were not trained: the expected |error| of a
// head, which is a code, a training and a decoder, under the perceived-label model
// (perceived.Model), with an interval.
//
// [Forecaster.Codes] forecasts many codes, from a label noise or from networks that were measured;
// then a forecast is relative to the user's own network. [Law] says how trained networks depart from
// the model, and [Fitted] has its numbers. [Decide] says what to do about the network, and
// [Forecaster.Compare] puts a network beside the model. [Question] asks about codes, trainings and
// numbers of levels, and answers with rows ([Row]).
package forecast
