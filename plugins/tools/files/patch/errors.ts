import { defineErrors } from '../../../../core/plugin.js'

/** What a model can correct about a patch. */
export const patchErrors = defineErrors({
  patch_invalid: {
    status: 400,
    detail: 'Line {line} of the patch is wrong: {rule}.',
    action:
      'Begin with "*** Begin Patch", end with "*** End Patch"; between them sections of "*** Update File: PATH", ' +
      '"*** Add File: PATH" or "*** Delete File: PATH".',
  },
  patch_too_large: {
    status: 413,
    detail: 'The patch goes beyond {limit}. No file was changed.',
    action: 'Send several smaller patches.',
  },
  patch_path_twice: {
    status: 400,
    detail: 'The patch names {path} in two sections, or one path inside the other. No file was changed.',
    action: 'Put all hunks of a file into one section.',
  },
  patch_path_taken: {
    status: 409,
    detail: 'There is already something at {path}. No file was changed.',
    action: 'Use "*** Update File" for a file that is there, or another path.',
  },
  hunk_not_found: {
    status: 409,
    detail:
      'Hunk {hunk} of {path} fits nowhere: its line {wanted} is not where it should be; the nearest is line {line} ' +
      'of the file, {found}. No file was changed.',
    action: 'Read the file again and copy its lines exactly; hunks of a file stand in the order of the file.',
  },
  hunk_out_of_order: {
    status: 409,
    detail: 'Hunk {hunk} of {path} fits only at line {line}, before the hunk above it. No file was changed.',
    action: 'Give the hunks of a file in the order of the file.',
  },
  hunk_ambiguous: {
    status: 409,
    detail: 'Hunk {hunk} of {path} fits at line {first} and at line {second}. No file was changed.',
    action: 'Give more lines around it, or a line "@@ LINE" with one that stands above the place only.',
  },
  patch_incomplete: {
    status: 500,
    detail: 'The system failed in the middle of the patch. Done: {done}. Not done: {left}.',
    action: 'Look at the files before trying again.',
  },
})
