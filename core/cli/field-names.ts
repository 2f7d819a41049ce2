/** Problems of a daemon name the fields of a request; who typed a command line knows its words and flags. */
import type { Command } from '../plugin/command.js'
import { Problem } from '../base/errors.js'

const ownName = ({ args = [], flags = {} }: Command, path: string): string | undefined => {
  const [, name = ''] = path.split('.')
  const flag = name.replaceAll('_', '-')
  if (Object.hasOwn(flags, flag)) return `--${flag}`
  return args.some((arg) => arg.replace(/\?$/u, '') === name) ? `<${name}>` : undefined
}

/** The name of a field, or of the one that it is part of; the path itself if the command line has no word for it. */
const nameOf = (command: Command, path: string): string => {
  const { fields = {} } = command
  const known = Object.keys(fields).find((field) => path === field || path.startsWith(`${field}.`))
  return (known === undefined ? ownName(command, path) : fields[known]) ?? path
}

/** The same problem in the words of the command line. */
export const inWordsOf = (command: Command, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error
  const { code, spec, occurrence, message } = error
  const { errors = [] } = occurrence
  const detail = message.replaceAll(/\b(?:body|query|path|header)\.[\w.-]*\w/gu, (path) => nameOf(command, path))
  return new Problem(
    code,
    { ...spec, detail },
    {
      ...occurrence,
      details: verbatim(detail),
      errors: errors.map(({ path, rule }) => ({ path: nameOf(command, path), rule })),
    },
  )
}

/** Values that leave the braces of a complete sentence as they are. */
export const verbatim = (sentence: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(sentence.matchAll(/\{(\w+)\}/gu), ([braces, name = '']) => [name, braces]))
