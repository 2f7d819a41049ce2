/** What steers a terminal (ECMA-48), and signs without a shape. */
import { readingBy, rubbedOut, type Read } from './reading.js'

/** In eight bits a control sequence begins with one sign, in seven with ESC before a letter. */
const control = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]'
/** Of devices, titles and programs: they end with ST, and with BEL too. Nothing that begins one stands amid another. */
const strings =
  '(?:\\u001b[P\\]X^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u0080-\\u009f]*' +
  '(?:\\u0007|\\u001b\\\\|\\u009c)'
/** Such as that of a set of signs, `ESC ( B`. */
const sets = '\\u001b[ -/]+[0-~]'
const sequences = `${control}|${strings}|${sets}`
/** `ESC 7`, `ESC c`. */
export const short = '\\u001b[0-~]'
/** Line ends and tabs are seen. */
const controls = '[^\\P{C}\\t\\n\\r]'
/** The last one is the blank of braille. */
const shapeless = '[\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\u2800]'

const gone = (): string => ''
const without = (...patterns: readonly string[]): Read => readingBy(new RegExp(patterns.join('|'), 'gu'), gone)

export const seen = without(sequences, short, controls, shapeless)
/** The same for who does not know the short ones: the sign behind an ESC is seen. */
export const seenBehindEscape = without(sequences, controls, shapeless)

/** A step to the left is a backspace, too: the next sign takes the place of the one before it. */
export const left = '(?:\\u001b\\[|\\u009b)1?D'
const back = readingBy(new RegExp(left, 'gu'), () => '\b')
const seenButBack = without(sequences, short, '[^\\P{C}\\t\\n\\r\\u0008]', shapeless)
/** The steps to what is seen where backspaces take signs away. */
export const seenRubbedOut: readonly Read[] = [back, seenButBack, rubbedOut]
