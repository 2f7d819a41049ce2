/** Whether a shell can read a command: one that it cannot ends with the code by which commands block. */
import type { Captured } from '../../../../core/plugin.js'

/** How a shell says what it cannot do itself, in whatever language: `bash: eval: line 1: …`, `sh: 1: eval: …`. */
const ownWords = /^\S+: (?:\d+: )?eval: /u
/** A line of the command as the shell has it. */
const quoted = /^[^`]*: `/u

/** What the shell itself said last; undefined if it said nothing. */
export const shellComplaint = ({ text }: Captured): string | undefined =>
  text.split('\n').findLast((line) => ownWords.test(line) && !quoted.test(line))

/**
 * What runs no line of the command on its standard input and ends with 0 if a shell can read it. Patterns that a line
 * of the command may switch on are read too.
 */
export const readingOf = (shell: 'bash' | 'sh' | undefined) => ({
  run: shell === 'sh' ? ['sh', '-n'] : 'exec "$0" -n',
  more: { BASHOPTS: 'extglob' },
})
