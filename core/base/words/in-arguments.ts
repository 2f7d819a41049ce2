/** Secrets in arguments of programs and in text for a shell: what their own words tell to be secret. */
import { secretsInAddress } from './in-address.js'
import { tellsOfSecret } from './secret-names.js'
import { shellCommands } from './shell-words.js'

/** Behind the name of a scheme, such as `Bearer`, stands the secret itself. */
const schemed = /^[A-Za-z][\w-]* +(?<rest>\S.*)$/su

/** A value, and what stands in it behind the name of a scheme. */
export const schemedValues = (value: string): string[] => [value, schemed.exec(value)?.groups?.['rest'] ?? value]

/** `--token=x`, `API_KEY=x` and `Authorization: Bearer x`. */
const assigned = /^-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:=|: *)(?<value>.+)$/su
/** A flag whose value is the next argument. */
const flag = /^--?(?<name>[A-Za-z][\w-]*)$/u
/** `"password": "x"`, as JSON has it. */
const member = /"(?<name>[^"\\\s]{1,100})"\s{0,20}:\s{0,20}(?<value>"(?:[^"\\]|\\.)*")/gsu

/** Texts in texts that are read: `ssh host "sudo sh -c '…'"`. */
const mostNested = 8

export const secretsInArguments = (args: readonly string[]): string[] => inCommand(args, mostNested)

/** Programs that take a password behind `-p`, without a blank. */
const taking = /(?:^|\/)(?:mysql|mariadb|sshpass)[a-z_-]{0,20}$/u

const inCommand = (args: readonly string[], levels: number): string[] => {
  const taker = args.findIndex((arg) => taking.test(arg))
  return args.flatMap((arg, at) => [
    ...inArgument(arg, levels),
    ...inFlag(args[at - 1], arg),
    ...(taker >= 0 && at > taker && /^-p./su.test(arg) ? [arg.slice(2)] : []),
  ])
}

/** The password of `-u name:password`, also in one argument. */
const ofUser = /^(?:-u)?[^\s:/]+:(?<password>[^\s/]\S*)$/su
const inUser = (text: string): string[] => {
  const password = ofUser.exec(text)?.groups?.['password']
  return password === undefined ? [] : [password]
}

/** A path is no secret; nor is another flag, nor the number behind `-p`, which is a port. */
const inFlag = (before: string | undefined, value: string): string[] => {
  const { name } = flag.exec(before ?? '')?.groups ?? {}
  if (name === undefined || /^(?:\.{0,2}\/|--)/u.test(value)) return []
  if (name === 'u' || name === 'user') return inUser(value)
  return tellsOfSecret(name) || (name === 'p' && !/^\d+$/u.test(value)) ? schemedValues(value) : []
}

/** One header or variable may be the value of a flag. */
const inAssignment = (text: string, isInner = false): string[] => {
  const { name, value } = assigned.exec(text)?.groups ?? {}
  if (name === undefined || value === undefined) return []
  return tellsOfSecret(name) ? schemedValues(value) : isInner ? [] : inAssignment(value, true)
}

/** Of a text of many lines, each may be one; there its value may be quoted. */
const inLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const plain = line.trim().replace(/[,;]$/u, '')
    return [...inAssignment(plain), ...inAssignment(plain.replaceAll(/["']/gu, ''))]
  })

const inMembers = (text: string): string[] =>
  [...text.matchAll(member)].flatMap(({ groups: { name = '', value = '' } = {} }) =>
    tellsOfSecret(name) ? schemedValues(unescaped(value)) : [],
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
export const secretsInArgument = (arg: string): string[] => inArgument(arg, mostNested)

const inArgument = (arg: string, levels: number): string[] => [
  ...inAssignment(arg),
  ...(arg.includes('\n') ? inLines(arg) : []),
  ...inMembers(arg),
  ...secretsInAddress(arg),
  ...(arg.startsWith('-u') ? inUser(arg) : []),
  ...(levels > 0 ? inText(arg, levels - 1) : []),
]

/** A word that the shell reads as it stands has been looked at. */
const inText = (text: string, levels: number): string[] => {
  const commands = shellCommands(text)
  const isPlain = commands.length === 1 && commands[0]?.length === 1 && commands[0][0] === text
  return isPlain ? [] : commands.flatMap((words) => inCommand(words, levels))
}
