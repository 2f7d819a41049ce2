/** What a command may say that is secret: what stands in its own text. */
import { redactSecrets, secretsInCommand } from '../../../../core/plugin.js'

const words = /[^\s"'`(),;:<>[\]{}=@&|$\\]{8,}/gu
const isPath = /^(?:~|\.{0,2})\//u
const [leastRun, leastChanges, leastMixed] = [8, 4, 16]

/** Letters and digits in no order that a name has: `sha256sum` and `python311` are names. */
const isMixed = (run: string): boolean => {
  if (!/\d/u.test(run) || !/[A-Za-z]/u.test(run)) return false
  return run.length >= leastMixed || (run.match(/[a-z]+|[A-Z]+|\d+/gu) ?? []).length >= leastChanges
}

/** What is seen to be secret by its shape is taken out of every text anyway. */
const mayBeSecret = (word: string): boolean =>
  redactSecrets(word) === word && word.split(/[^A-Za-z0-9]/u).some((run) => run.length >= leastRun && isMixed(run))

/** Of a path the parts, so that the rest of it can be read. */
const wordsIn = (command: string): string[] =>
  (command.match(words) ?? []).flatMap((word) => (isPath.test(word) ? word.split('/') : [word]))

interface Commanded {
  readonly command: string
}
const known = new WeakMap<Commanded, readonly string[]>()

/** Values that the words around them tell to be secret, and words that may be. */
export const ownSecrets = (executor: Commanded): readonly string[] => {
  const { command } = executor
  const found = known.get(executor) ?? [...secretsInCommand(command), ...wordsIn(command).filter(mayBeSecret)]
  known.set(executor, found)
  return found
}
