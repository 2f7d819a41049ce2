import { defineErrors } from '../errors.js'

export const errors = defineErrors({
  command_unknown: { status: 400, detail: 'there is no command "{command}"{hint}' },
  argument_missing: { status: 400, detail: '{command} needs <{argument}>' },
  argument_surplus: { status: 400, detail: '{command} does not take "{word}"' },
  flag_value_missing: { status: 400, detail: '--{flag} needs a value' },
  output_unknown: { status: 400, detail: '--output must be pretty or json' },
  daemon_unreachable: {
    status: 503,
    detail: 'no daemon answers at {url}',
    action: 'Start one with holdfast serve, or name another with --base-url.',
  },
  answer_unreadable: { status: 502, detail: 'the answer of {url} is not what a daemon sends' },
  frame_too_large: { status: 502, detail: 'the stream sent a frame above 1 MiB' },
  problem: { status: 500, detail: '{detail}' },
})

/** Codes of a wrong command line: exit code 2. */
export const usageCodes: ReadonlySet<string> = new Set([
  'command_unknown',
  'argument_missing',
  'argument_surplus',
  'flag_value_missing',
  'output_unknown',
  'flag_unknown',
  'flag_twice',
  'config_invalid',
])
