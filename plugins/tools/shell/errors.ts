import { defineErrors } from '../../../core/plugin.js'

/** What a model can correct about a call of `bash`, and how a call ends that was stopped. */
export const shellErrors = defineErrors({
  workdir_invalid: {
    status: 400,
    detail: 'workdir is not a folder inside the workspace.',
    action: 'Use a path relative to the workspace folder, or leave it out.',
  },
  command_invalid: {
    status: 400,
    detail: 'The command is longer than {limit} bytes or contains a NUL character.',
    action: 'Write a script with write_file and run it.',
  },
  command_not_started: {
    status: 500,
    detail: 'The command could not be started.',
    action: 'See the log of the daemon.',
  },
  sandbox_unavailable: {
    status: 503,
    detail: 'Commands run in a sandbox only, and there is none: {reason}.',
    action: 'An operator can see to it; GET /v1/status says what is missing. Use the file tools meanwhile.',
  },
  background_limit: {
    status: 409,
    detail: 'There are {limit} commands in the background of {whose}, which is the most.',
    action: 'Stop one with task_stop, or wait for one with task_output.',
  },
  command_lost: {
    status: 500,
    detail:
      'The process that waits for commands was killed, and the command with it. What it did until then stays done.',
    action: 'Look at what it did before running it again.',
  },
  command_stopped: {
    status: 409,
    detail:
      'The command was stopped before it ended, with everything it had started. What it did until then stays done.',
    action: 'Look at what it did before running it again.',
  },
})
