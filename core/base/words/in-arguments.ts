/** Secrets in arguments of programs and in text for a shell: what their own words tell to be secret. */
import { secretsInAddress } from './in-address.js'
import { secretsInCode } from './in-code.js'
import { isToldSecret, secretsInFlags } from './in-flags.js'
import { isCode } from './meant-values.js'
import { isOrdinary, valuesNamed, valuesOfScheme } from './named-values.js'
import { tellsOfSecret } from './secret-names.js'
import { readShell, type ShellText } from './shell-words.js'

/** `--token=x`, `API_KEY=x` and `Authorization: Bearer x`. */
const assigned = /^-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:\+?=|: *)(?<value>.+)$/su
/** `//host/:_authToken=x`. */
const ofPlace = /^[^\s=]*[:/](?<name>[A-Za-z_][\w.-]*)=(?<value>.+)$/su
/** `a=1,password=x`. */
const pair = /(?<![^,;])[^\s,;=]{1,100}=[^\s,;]+/gu

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
  const { name, value } = (assigned.exec(text) ?? ofPlace.exec(text))?.groups ?? {}
  if (name === undefined || value === undefined) return []
  const found = valuesNamed(name, value)
  if (isInner || found.length > 0 || tellsOfSecret(name)) return found
  return [...valuesOfScheme(value), ...inAssignment(value, true)]
}

const inPairs = (text: string): string[] => [...text.matchAll(pair)].flatMap(([found]) => inAssignment(found))

/** `password = x`, as files of settings have it. */
const setting = /^(?<name>[A-Za-z_][\w.-]*)[ \t]+=[ \t]*(?<value>[^\s"'].*)$/su
const inSetting = (line: string): string[] => {
  const { name = '', value = '' } = setting.exec(line)?.groups ?? {}
  return isCode(value) ? [] : valuesNamed(name, value)
}

/** Of a text of many lines, each may be one; there its value may be quoted. */
const inLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const plain = line.trim().replace(/[,;]$/u, '')
    return [...inAssignment(plain), ...inAssignment(plain.replaceAll(/["']/gu, '')), ...inSetting(plain)]
  })

/** In one argument, which may be text for a shell, such as behind `sh -c`. */
export const secretsInArgument = (arg: string): string[] => secretsInArguments([arg])

/** In a text for a shell: `TOKEN=x deploy` is no value of several words. */
export const secretsInCommand = (text: string): string[] =>
  [...inText(text), ...inShell(readShell(text), mostNested - 1)].filter((value) => !isOrdinary(value))

const inArgument = (arg: string, levels: number): string[] => [
  ...inAssignment(arg),
  ...valuesOfScheme(arg),
  ...(/[,;]/u.test(arg) ? inPairs(arg) : []),
  ...(arg.includes('\n') ? inLines(arg) : []),
  ...inText(arg),
  ...(levels > 0 ? inWord(arg, levels - 1) : []),
]

const inText = (text: string): string[] => [...secretsInCode(text), ...secretsInAddress(text)]

/** One that the shell reads as it stands has been looked at. */
const inWord = (word: string, levels: number): string[] => {
  const read = readShell(word)
  const [first = []] = read.commands
  return read.commands.length === 1 && first.length === 1 && first[0] === word ? [] : inShell(read, levels)
}

const inShell = ({ commands, programs }: ShellText, levels: number): string[] => {
  const read = programs.flatMap((program) => (isToldSecret(program.words) ? program.read() : []))
  return [
    ...commands.flatMap((words) => inCommand(words, levels)),
    ...[...new Set(read)].flatMap((value) => valuesNamed('password', value)),
  ]
}
