import { array, boolean, defaulted, doc, enums, integer, object, string, type Infer } from '../../../core/plugin.js'
import { sandboxModes } from './sandbox/sandbox.js'

const paths = () => array(string({ min: 2, max: 4096, pattern: '^/' }), { max: 100 })

export const ShellConfig = object({
  output_bytes: doc(
    defaulted(integer({ min: 1024, max: 4 * 1024 * 1024 }), 64 * 1024),
    'Bytes kept of each of standard output and standard error: the first and the last half.',
  ),
  grace_ms: doc(
    defaulted(integer({ min: 0, max: 60_000 }), 1_000),
    'Time between SIGTERM and SIGKILL when a command is stopped, milliseconds.',
  ),
  background_per_session: doc(
    defaulted(integer({ min: 0, max: 1_000 }), 8),
    'Commands in the background of one session, at most.',
  ),
  background_total: doc(
    defaulted(integer({ min: 0, max: 10_000 }), 32),
    'Commands in the background of all sessions, at most.',
  ),
  background_time_limit_ms: doc(
    defaulted(integer({ min: 0, max: 30 * 86_400_000 }), 0),
    'Longest life of a command in the background, milliseconds; 0 is no limit.',
  ),
  background_silence_ms: doc(
    defaulted(integer({ min: 1, max: 86_400_000 }), 45_000),
    'Silence in the middle of a line after which the metadata of a command in the background says since when, ' +
      'milliseconds.',
  ),
  background_kept_outputs: doc(
    defaulted(integer({ min: 0, max: 100_000 }), 200),
    'Commands in the background whose output is kept: the newest. Each takes 8 MiB at most.',
  ),
  sandbox: doc(
    defaulted(enums(sandboxModes), 'off'),
    'Whether commands run behind walls, by bubblewrap: they write to the workspace and a temporary folder, see ' +
      'neither the state root nor files of secrets, and have no network. `on`: where it works; `required`: else not ' +
      'at all.',
  ),
  sandbox_network: doc(
    defaulted(boolean(), false),
    'Lets commands in the sandbox use the network, with all that listens on this machine, the daemon too.',
  ),
  sandbox_writable: doc(
    defaulted(paths(), []),
    'Folders that commands in the sandbox may write beside the workspace, such as the cache of a package manager.',
  ),
  sandbox_hidden: doc(
    defaulted(paths(), []),
    'Files and folders that commands in the sandbox do not see, beside the state root, files that keys and tokens ' +
      'were read from, and where tools keep credentials below the home folder.',
  ),
  pass_environment: doc(
    defaulted(array(string({ min: 1, max: 200 }), { max: 100 }), []),
    'Variables that commands see beside the usual ones, such as PATH, LANG and JAVA_HOME: names, or beginnings ' +
      'with a star. What a star passes must not look secret by its name or value; what is named in full is passed. ' +
      'Those that begin with SERVICE_ are never passed.',
  ),
})
export type ShellConfig = Infer<typeof ShellConfig>
