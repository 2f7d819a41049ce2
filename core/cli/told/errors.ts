import { defineErrors } from '../../base/errors.js'

export const errors = defineErrors({
  command_unknown: { status: 400, detail: 'there is no command "{command}"{hint}' },
  command_missing: { status: 400, detail: 'a command is missing beside --{flag}; see holdfast --help' },
  subcommand_missing: { status: 400, detail: '{command} needs a subcommand: {more}; see holdfast {command} --help' },
  argument_missing: { status: 400, detail: '{command} needs <{argument}>' },
  argument_empty: { status: 400, detail: '<{argument}> must not be empty' },
  id_refused: { status: 400, detail: 'nothing is called "." or ".."' },
  argument_surplus: { status: 400, detail: '{command} does not take "{word}"' },
  flag_value_missing: { status: 400, detail: '--{flag} needs a value' },
  output_unknown: { status: 400, detail: '--output must be pretty or json' },
  daemon_unreachable: {
    status: 503,
    detail: 'no daemon answers at {url}',
    action: 'Start one with holdfast serve, or name another with --base-url.',
  },
  answer_unreadable: { status: 502, detail: 'the answer of {url} is not what a daemon sends' },
  server_silent: {
    status: 502,
    detail: 'no model server answers at {url} for {route_id}, so nobody knows which models it has',
    action: 'Start it, or name a model with --model.',
  },
  models_unknown: {
    status: 502,
    detail: '{url} answers and lists no models for {route_id}',
    action: 'See that the address is whole, such as http://127.0.0.1:11434/v1, or name a model with --model.',
  },
  routes_file_refused: {
    status: 409,
    detail: 'the daemon does not take config/routes.toml with what was added, so it was put back as it was',
    action: 'See holdfast status for what is wrong with the file, correct it, and try again.',
  },
  routes_file_elsewhere: {
    status: 409,
    detail: 'the daemon reads its model routes from {file}, which init does not write',
    action: 'Write the route into that file yourself, or start the daemon without --routes-file.',
  },
  routes_file_broken: {
    status: 409,
    detail: 'config/routes.toml is broken, so nothing was changed: {fault}',
    action: 'Correct it, and try again. holdfast doctor routes --routes-file FILE tells every fault of it.',
  },
  output_unwritten: {
    status: 507,
    detail: 'standard output takes no more ({reason}), so what was printed is not whole',
    action: 'Make room there, or print to another place, and ask again.',
  },
  frame_too_large: { status: 502, detail: 'the stream sent a frame above 1 MiB' },
  stream_ended: {
    status: 502,
    detail: 'the daemon ended the stream before the run ended',
    action: 'Watch it again: holdfast runs watch {run_id}',
  },
  shell_unknown: { status: 400, detail: 'there is no completion for "{shell}": say bash, zsh or fish' },
  flag_invalid: { status: 400, detail: '--{flag} {problem}' },
  flags_together: { status: 400, detail: '--{flag} does not go with --{other}' },
  too_many_files: {
    status: 503,
    detail: 'too many files are open',
    action: 'Raise the limit, such as with ulimit -n 4096.',
  },
  state_faults_met: {
    status: 500,
    detail: '{faults} on the way, first at {file} byte {offset}: {rule}',
    action: 'See all with holdfast state verify.',
  },
  plugin_kind_unknown: { status: 400, detail: 'there is no template "{kind}": say {kinds}' },
  plugin_name_refused: { status: 400, detail: 'a plugin cannot be called "{name}": {problem}' },
  plugin_folder_taken: {
    status: 409,
    detail: '{folder} is there already',
    action: 'Choose another name, or move it away.',
  },
  plugin_folder_refused: {
    status: 500,
    detail: '{folder} cannot be made: {reason}',
    action: 'Go to a folder in which you may write and where there is room.',
  },
  file_kind_unknown: {
    status: 400,
    detail: '{file} is no text, and its name ends in none of {endings}',
    action: 'Where a plugin takes it, store it with holdfast assets import FILE --media-type TYPE and give its id.',
  },
  file_taken: {
    status: 409,
    detail: '{file} is there already and stays as it is',
    action: 'Say another file with --to.',
  },
  file_unwritten: {
    status: 500,
    detail: '{file} cannot be written: {reason}',
    action: 'Say with --to a file or a folder where you may write and where there is room.',
  },
  flag_required: { status: 400, detail: '{command} needs {flags}' },
})

/** Codes of a wrong command line: exit code 2. */
export const usageCodes: ReadonlySet<string> = new Set([
  'command_unknown',
  'command_missing',
  'subcommand_missing',
  'argument_missing',
  'argument_empty',
  'id_refused',
  'argument_surplus',
  'flag_value_missing',
  'flag_invalid',
  'shell_unknown',
  'flags_together',
  'flag_required',
  'output_unknown',
  'plugin_kind_unknown',
  'plugin_name_refused',
  'flag_unknown',
  'flag_twice',
  'config_invalid',
  'retention_config_invalid',
])
