import { defineErrors } from '../../base/errors.js'

export const errors = defineErrors({
  archive_absent: {
    status: 404,
    domain: 'storage',
    detail: 'There is no archive {path}.',
    action: 'Name a file that retention has written: holdfast status names the newest of each kind.',
  },
  archive_is_folder: {
    status: 409,
    domain: 'storage',
    detail: '{path} is a folder, and no archive: {inside}.',
    action: 'Name a file that retention has written: holdfast status names the newest of each kind.',
  },
  archive_shape_absent: {
    status: 404,
    domain: 'storage',
    detail: 'The archive {path} holds no collection and no stream {name}.',
    action: 'See what there is: holdfast state show --archive FILE',
  },
  archive_record_absent: {
    status: 404,
    domain: 'storage',
    detail: '{name} in the archive {path} holds nothing with the id {id}.',
    action: 'It may be in another archive: each is of one fall.',
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
