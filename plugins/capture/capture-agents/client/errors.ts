import { defineErrors } from '../../../../core/plugin.js'

export const clientErrors = defineErrors({
  capture_file_refused: {
    status: 400,
    detail: 'the agent file {path} {problem}',
    action: 'Take the config_toml that the daemon gave for this machine, unchanged but for command and folder.',
  },
  capture_way_missing: {
    status: 400,
    detail: 'nothing says how {source_id} is taken on this machine',
    action:
      'Give --command or --folder, or write command or folder into the driver of the source; ' +
      'enabled = false leaves a source out.',
  },
  capture_source_unclear: {
    status: 400,
    detail: 'the file has {sources} sources, and --{flag} is for one',
    action: 'Name it with --source, or write command or folder into the drivers of the file.',
  },
  capture_source_unknown: {
    status: 400,
    detail: 'the file has no source {source_id} that is enabled: there are {sources}',
  },
  capture_token_refused: {
    status: 401,
    detail:
      'the daemon at {url} does not take the {token} of {machine_id} any more: ' +
      'the agent was revoked or provisioned anew, its tokens have expired, or that daemon does not know it',
    action:
      'Provision the machine again, with a new batch_id, and start with the new file: ' +
      'what waits in the spool is sent then.',
  },
  capture_address_wrong: {
    status: 502,
    detail: 'what answers at {url} is no daemon that takes captures',
    action: 'See that daemon.base_url of the file is the address of the daemon, without a path of its own.',
  },
  capture_spool_refused: {
    status: 500,
    detail: 'the spool {path} cannot be used: {reason}',
    action: 'Name another folder with --spool, or let this one be of the user who captures.',
  },
  capture_files_refused: {
    status: 400,
    detail: 'the files of the machines cannot be written, so nothing was provisioned: {path} {reason}',
    action: 'Name another folder with --into, or remove what is in the way.',
  },
  capture_spool_taken: {
    status: 409,
    detail: 'another capture works with the spool {path}',
    action: 'End it first, or name another folder with --spool.',
  },
})
