/** Whether a shell could not read the script that a command is: it ends with the code by which commands block. */
import type { Captured } from '../../../../core/plugin.js'

/** A command that is one script, with what it is given: it may have variables or a shell before it, and no flags. */
const scriptOf = /^\s*(?:\w+=\S*\s+)*(?:exec\s+)?(?:(?:\/\S*\/)?(?:ba|da)?sh\s+)?(?!-|\.\s)([^\s;&|<>()"'`$\\]+)/u
/** A line of the script as the shell has it. */
const quoted = /^\S+: line \d+: `/u

/** `./guard.sh: 4: Syntax error: …`, `./guard.sh: line 4: syntax error…`, `sh: 0: cannot open ./guard.sh: …`. */
const isFault = (line: string, script: string): boolean =>
  line.startsWith(`${script}: `)
    ? /^(?:line )?\d+: syntax error\b/iu.test(line.slice(script.length + 2))
    : /^\S+: 0: cannot open (.+?)(?:: |$)/iu.exec(line)?.[1] === script

/** What the shell itself said last of the script; undefined if the script said it, or that cannot be told. */
export const scriptComplaint = (command: string, { text }: Captured): string | undefined => {
  const script = scriptOf.exec(command)?.[1]
  const last = text
    .trimEnd()
    .split('\n')
    .findLast((line) => !quoted.test(line))
  return script !== undefined && last !== undefined && isFault(last, script) ? last : undefined
}
