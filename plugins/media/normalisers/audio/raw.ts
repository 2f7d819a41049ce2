/** Samples alone: nothing tells of them but their length. */
import type { Sniffer } from './facts.js'

export const samplesOf =
  (width: number): Sniffer =>
  ({ bytes, refuse }) =>
    bytes.length % width === 0 ? {} : refuse(`it has no whole number of samples of ${width} bytes`)
