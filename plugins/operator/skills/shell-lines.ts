/** Lines to paste into a shell, for warnings of skills. */
import { shellWord, visibleLine } from '../../../core/plugin.js'

/** A path in a line to paste. */
export const pasted = (...words: readonly string[]): string =>
  words.map((word) => visibleLine(shellWord(word))).join(' ')
export const edit = (path: string): string => `${'$'}{EDITOR:-vi} ${pasted(path)}`
