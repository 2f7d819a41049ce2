import { defineErrors } from '../../base/errors.js'

export const errors = defineErrors({
  archive_absent: {
    status: 404,
    domain: 'storage',
    detail: 'There is no archive {path}.',
    action: 'Name a file that retention has written: holdfast status names the newest.',
  },
  archive_damaged: {
    status: 409,
    domain: 'storage',
    detail: '{path} is no whole archive: {reason}.',
    action: 'Use a copy of it.',
  },
  archive_not_written: {
    status: 409,
    domain: 'storage',
    detail: 'Of {kind} nothing fell, because its archive could not be written to {path}: {reason}.',
    action: 'Make archive_dir a folder that this daemon may write to and that has room, or take it out.',
  },
})
