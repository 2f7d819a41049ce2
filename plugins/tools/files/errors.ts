import { defineErrors } from '../../../core/plugin.js'

/** What a model can correct about a call of a file tool. */
export const fileErrors = defineErrors({
  path_outside_workspace: {
    status: 400,
    detail: 'The path is not inside the workspace.',
    action: 'Use a path relative to the workspace folder.',
  },
  path_of_git: {
    status: 403,
    detail: 'The path is in the folder of git, whose settings and hooks name programs that git runs.',
    action: 'Change it with a command of git.',
  },
  path_not_found: {
    status: 404,
    detail: 'There is no such file or folder.',
    action: 'Look with list_files or glob_search.',
  },
  path_not_a_file: {
    status: 400,
    detail: 'The path is not a regular file.',
    action: 'Name a file; list_files shows what a folder holds.',
  },
  path_not_a_folder: { status: 400, detail: 'A part of the path is not a folder.', action: 'Look with list_files.' },
  path_invalid: { status: 400, detail: 'The path is too long or has characters that a path cannot have.' },
  path_forbidden: { status: 403, detail: 'The system does not let the daemon use this path.' },
  workspace_full: { status: 507, detail: 'There is no space left for the file.' },
  file_too_large: {
    status: 413,
    detail: 'The file has {bytes} bytes, more than the {limit} that this tool reads.',
    action: 'Search in it with grep_search.',
  },
  pdf_unreadable: {
    status: 400,
    detail: 'The words of the PDF cannot be shown: {reason}.',
    action: 'Read it as base64 with raw and include_base64, or with a program.',
  },
  file_changed: {
    status: 409,
    detail: 'The file is not the one that was expected: its SHA-256 is {sha256}.',
    action: 'Read the file again.',
  },
  file_not_text: { status: 400, detail: 'The file is not UTF-8 text.', action: 'Use write_file with content_base64.' },
  content_ambiguous: { status: 400, detail: 'Exactly one of content and content_base64 must be given.' },
  content_not_base64: { status: 400, detail: 'content_base64 is not base64.' },
  text_not_found: {
    status: 409,
    detail: 'old_string is not in the file.',
    action: 'Read the file again and copy the text exactly, with its indentation and line ends.',
  },
  text_not_unique: {
    status: 409,
    detail: 'old_string is in the file {count} times.',
    action: 'Give more of the text around it, or set replace_all.',
  },
  text_unchanged: { status: 400, detail: 'old_string and new_string are equal.' },
  pattern_invalid: {
    status: 400,
    detail: 'The pattern is not valid.',
    action:
      'grep_search takes regular expressions without look-around and back-references; glob_search takes ' +
      'patterns of *, **, ?, [...] and {a,b} without "..".',
  },
  call_stopped: { status: 409, detail: 'The call was stopped before it ended.' },
})
