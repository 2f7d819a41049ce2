/** Everything that can go wrong between the daemon and its disk, and what its operator can do. */
import { codeOf } from '../base/text/thrown.js'
import { defineErrors, type Problem } from '../base/errors.js'

export const errors = defineErrors({
  state_root_locked: {
    status: 503,
    domain: 'storage',
    detail: 'The state root {path} is in use by process {pid} on {host}.',
    action: 'Stop that daemon, or start this one on another state root.',
  },
  state_root_absent: {
    status: 404,
    domain: 'storage',
    detail: 'There is no state root at {path}.',
    action: 'Name one with --state-root.',
  },
  state_root_not_folder: {
    status: 503,
    domain: 'storage',
    detail: 'The state root {path} is not a folder.',
    action: 'Name a folder, or a path that does not exist yet.',
  },
  state_root_not_made: {
    status: 503,
    domain: 'storage',
    detail: 'The state root {path} cannot be made: {reason}.',
    action: 'Name a path on a disk that is there and takes folders.',
  },
  state_root_not_owned: {
    status: 503,
    domain: 'storage',
    detail: '{path} belongs to user {uid}, not to the user of this daemon.',
    action: 'Run the daemon as that user, or change the owner of the whole state root.',
  },
  state_root_exposed: {
    status: 503,
    domain: 'storage',
    detail: '{path} can be entered by other users: its mode is {mode}.',
    action: 'Close it: chmod 700 {path}',
  },
  state_root_foreign: {
    status: 503,
    domain: 'storage',
    detail: 'The folder {path} holds {name} but no root.json: it is no state root, or one that lost this file.',
    action:
      'Name an empty folder. A state root that lost root.json gets it again by: ' +
      'holdfast state repair --state-root {path}',
  },
  state_root_inner: {
    status: 503,
    domain: 'storage',
    detail: '{path} is a folder of the state root {root}, and none itself.',
    action: 'Name that one: --state-root {root}',
  },
  state_root_link: {
    status: 503,
    domain: 'storage',
    detail: '{path} must be a real folder inside the state root.',
    action: 'Replace the link or file by the folder itself; only the state root as a whole may be a link.',
  },
  state_root_not_regular: {
    status: 503,
    domain: 'storage',
    detail: '{path} must be a regular file: it is a folder, a link, a pipe or a device.',
    action: 'Put the file itself in its place, or restore it from a backup.',
  },
  state_root_network: {
    status: 503,
    domain: 'storage',
    detail: 'The state root {path} is on a network file system ({type}), where locks and syncs cannot be relied on.',
    action: 'Use a local disk, or accept the risk explicitly.',
  },
  state_root_read_only: {
    status: 503,
    domain: 'storage',
    detail: '{path} cannot be written: {reason}.',
    action: 'Make the folder writable for this user, and its file system mounted for writing.',
  },
  state_unreadable: {
    status: 503,
    domain: 'storage',
    detail: '{path} cannot be used by this user: {reason}.',
    action: 'Run this as the user whom the state root belongs to.',
  },
  state_root_full: {
    status: 503,
    domain: 'storage',
    detail: 'There is no space left for the state root {path}.',
    action: 'Free space on its file system, then start again.',
  },
  state_root_damaged: {
    status: 503,
    domain: 'storage',
    detail: '{path} is damaged: its bytes do not match its digest.',
    action: 'Restore a backup, or see what can be mended: holdfast state repair --state-root {root}',
  },
  state_root_incompatible: {
    status: 503,
    domain: 'storage',
    detail: '{path} was written by a newer version: this one does not know {flag}.',
    action: 'Start the newer version, or restore an older backup.',
  },
  state_root_lost: {
    status: 409,
    domain: 'storage',
    detail: 'Nothing in {path} tells which root it is any more.',
    action: 'Restore a backup.',
  },
  repair_loses: {
    status: 409,
    domain: 'storage',
    detail: 'The repair would take acknowledged data away, first at {path} byte {offset}.',
    action: 'Restore a backup instead, or repeat with --accept-loss.',
  },
  retention_config_invalid: {
    status: 409,
    domain: 'storage',
    detail: '{fault}',
    action: 'Correct config/retention.toml, and ask again.',
  },
  fall_outdated: {
    status: 409,
    domain: 'storage',
    detail: 'Of {kind} nothing fell: more was written to what was to fall than had been told.',
    action: 'Ask again what is to fall.',
  },
  root_elsewhere: {
    status: 409,
    detail: 'the daemon at {url} works on {other}, not on {root}',
    action:
      'Name its root with --state-root, or the daemon of this root with --base-url. SERVICE_DAEMON_URL names one too.',
  },
  holder_unreachable: {
    status: 503,
    domain: 'storage',
    detail: 'Process {pid} holds {path}, and no daemon answers at {url}.',
    action: 'Give its address with --base-url.',
  },
  shape_absent: {
    status: 404,
    domain: 'storage',
    detail: 'The state root holds no collection and no stream {name}.',
    action: 'See holdfast state show for what there is.',
  },
  record_absent: {
    status: 404,
    domain: 'storage',
    detail: '{name} holds nothing with the id {id}.',
  },
  target_not_empty: {
    status: 409,
    domain: 'storage',
    detail: '{path} is not an empty folder{what}.',
    action: 'Name a folder that does not exist yet or is empty; a copy that was broken off may be removed.',
  },
  target_without_folder: {
    status: 409,
    domain: 'storage',
    detail: 'The folder {path} does not exist.',
    action: 'Make it first; only the last folder of a path is made.',
  },
  target_not_writable: {
    status: 409,
    domain: 'storage',
    detail: '{path} cannot be written: {reason}.',
    action: 'Name a folder on a file system that may be written to and has room.',
  },
  target_too_small: {
    status: 409,
    domain: 'storage',
    detail: 'The copy takes {needed}, and the file system of {path} has {free} free.',
    action: 'Name a folder on a file system with more room, or make room there.',
  },
  target_in_root: {
    status: 409,
    domain: 'storage',
    detail: '{path} is inside the state root.',
    action: 'Name a folder outside of it.',
  },
  backup_absent: {
    status: 404,
    domain: 'storage',
    detail: 'There is no folder {path}.',
    action: 'Name the folder that backup create wrote.',
  },
  backup_incomplete: {
    status: 409,
    domain: 'storage',
    detail: '{path} has no backup.json: it is no backup, or one that was not finished.',
    action: 'Name the folder that backup create wrote, or make another backup.',
  },
  backup_damaged: {
    status: 409,
    domain: 'storage',
    detail: 'The backup is damaged: {path}: {rule}.',
    action: 'Use another backup.',
  },
  backup_root_differs: {
    status: 409,
    domain: 'storage',
    detail: 'This daemon holds the root {held}, not {wanted}.',
    action: 'Call the daemon that holds that root, or stop it.',
  },
  finding_not_found: {
    status: 404,
    domain: 'storage',
    detail: 'There is no finding {finding_id} that waits to be acknowledged.',
    action: 'See holdfast state findings for what there is.',
  },
  document_damaged: {
    status: 500,
    domain: 'storage',
    detail: 'The document {path} is damaged: its bytes do not match its digest.',
    action: 'Restart the daemon: it sets the file aside and goes on without it; then restore it from a backup.',
  },
  blob_damaged: {
    status: 500,
    domain: 'storage',
    detail: 'The stored bytes {sha256} do not match their digest.',
    action: 'Restore the file from a backup or upload the bytes again.',
  },
  interrupted: { status: 409, detail: 'Broken off. {stands}' },
  program_damaged: { status: 500, detail: '{reason}' },
})

export { codeOf }

/** The problem that the system refused a file to this user; undefined if the error is another. */
export const accessProblem = (cause: unknown): Problem | undefined => {
  const code = codeOf(cause)
  if ((code !== 'EACCES' && code !== 'EPERM') || !(cause instanceof Error) || !('path' in cause)) return undefined
  return errors.state_unreadable({ details: { path: String(cause.path), reason: code }, cause })
}

/** The problem that the program was damaged or replaced while it ran; undefined if the error is another. */
export const programProblem = (cause: unknown): Problem | undefined =>
  cause instanceof ReferenceError && codeOf(cause) === errors.program_damaged.code
    ? errors.program_damaged({ details: { reason: cause.message }, cause })
    : undefined
