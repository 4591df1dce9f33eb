// The pictures that come with a model: not part of the first screen, fetched as soon as a model is open.
export { startGraphing } from '../actions/graph';
export { ErrorsView } from './errors_view';
export { FormatsView } from './formats_view';
export { GraphView } from './graph_view';
export { RangesView } from './ranges_view';
export { TradeOffView } from './trade_off_view';
