// Package forecast forecasts the mean |error| of networks that were not trained, with an interval. A
// head is a code, a training and a decoder. Its error is that of the perceived-label model
// (perceived.Model), from which networks depart by a multivariate Student's t ([Law]).
// testdata/forecast/README.md says how good the forecasts are.
//
// [Forecaster.Codes] forecasts many codes, from a label noise or from networks that were measured;
// then a forecast is relative to the user's own network. [Law] says how trained networks depart from
// the model, and [Fitted] has its numbers. [Decide] says what to do about the network, and
// [Forecaster.Compare] puts a network beside the model. [Question] asks about codes, trainings and
// numbers of levels, and answers with rows ([Row]).
package forecast
