/** Secrets in arguments of programs and in text for a shell: what their own words tell to be secret. */
import { secretsInAddress } from './in-address.js'
import { secretsInFlags } from './in-flags.js'
import { isOrdinary, valuesNamed, valuesOfScheme } from './named-values.js'
import { tellsOfSecret } from './secret-names.js'
import { shellCommands } from './shell-words.js'

/** `--token=x`, `API_KEY=x` and `Authorization: Bearer x`. */
const assigned = /^-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:=|: *)(?<value>.+)$/su
/** `"password": "x"`, as JSON has it. */
const member = /"(?<name>[^"\\\s]{1,100})"\s{0,20}:\s{0,20}(?<value>"(?:[^"\\]|\\.)*")/gsu

/** Texts in texts that are read: `ssh host "sudo sh -c '…'"`. */
const mostNested = 8

export const secretsInArguments = (args: readonly string[]): string[] =>
  inCommand(args, mostNested).filter((value) => !isOrdinary(value))

/** Those that are given by themselves are of a program that stands elsewhere; a text for a shell names its own. */
const inCommand = (args: readonly string[], levels: number): string[] => [
  ...args.flatMap((arg) => inArgument(arg, levels)),
  ...secretsInFlags(args, levels === mostNested),
]

/** One header or variable may be the value of a flag. */
const inAssignment = (text: string, isInner = false): string[] => {
  const { name, value } = assigned.exec(text)?.groups ?? {}
  if (name === undefined || value === undefined) return []
  return isInner || tellsOfSecret(name) ? valuesNamed(name, value) : inAssignment(value, true)
}

/** Of a text of many lines, each may be one; there its value may be quoted. */
const inLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const plain = line.trim().replace(/[,;]$/u, '')
    return [...inAssignment(plain), ...inAssignment(plain.replaceAll(/["']/gu, ''))]
  })

const inMembers = (text: string): string[] =>
  [...text.matchAll(member)].flatMap(({ groups: { name = '', value = '' } = {} }) =>
    valuesNamed(name, unescaped(value)),
  )
/** What a quoted text says, as JSON reads it; if it is none, what stands between the quotes. */
export const unescaped = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

/** In one argument, which may be text for a shell, such as behind `sh -c`. */
export const secretsInArgument = (arg: string): string[] => secretsInArguments([arg])

const inArgument = (arg: string, levels: number): string[] => [
  ...inAssignment(arg),
  ...valuesOfScheme(arg),
  ...(arg.includes('\n') ? inLines(arg) : []),
  ...inMembers(arg),
  ...secretsInAddress(arg),
  ...(levels > 0 ? inText(arg, levels - 1) : []),
]

/** A word that the shell reads as it stands has been looked at. */
const inText = (text: string, levels: number): string[] => {
  const commands = shellCommands(text)
  const isPlain = commands.length === 1 && commands[0]?.length === 1 && commands[0][0] === text
  return isPlain ? [] : commands.flatMap((words) => inCommand(words, levels))
}
