import { array, defaulted, doc, integer, object, string } from '../../../core/plugin.js'
import type { Infer } from '../../../core/plugin.js'

export const ShellConfig = object({
  output_bytes: doc(defaulted(integer({ min: 1024, max: 4 * 1024 * 1024 }), 64 * 1024), 'Bytes kept of each of standard output and standard error: the first and the last half.'),
  grace_ms: doc(defaulted(integer({ min: 0, max: 60_000 }), 1_000), 'Time between SIGTERM and SIGKILL when a command is stopped, milliseconds.'),
  pass_environment: doc(defaulted(array(string({ min: 1, max: 200 }), { max: 100 }), []), 'Variables that commands see although their names look like secrets. Those that begin with SERVICE_ are never passed.'),
})
export type ShellConfig = Infer<typeof ShellConfig>
