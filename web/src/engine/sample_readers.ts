// The readers of sample files, in a part of their own: the first screen doesn't need them, and a run asks for them before it.
export { readSamples } from '../package';
