/** Makes the bundle once, before several test files want it at the same time. */
import { findBundle } from './bundle.js'

await findBundle()
