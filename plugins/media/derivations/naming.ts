/** What is made of files is called. */
import { visibleLine } from '../../../core/plugin.js'

/** Characters of a file name. */
const most = 255

/** After the file that it was made of. */
export const derivedName = (file_name: string, ending: string): string =>
  `${file_name.slice(0, most - ending.length)}${ending}`

/** A file in a text, where it has no words or before them. */
export const fileLine = (file: {
  readonly id: string
  readonly media_type: string
  readonly file_name: string
}): string => `[file ${visibleLine(file.file_name)}, ${visibleLine(file.media_type)}, asset ${visibleLine(file.id)}]`
