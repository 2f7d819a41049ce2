/** Where a command takes what is too long or too secret for its line, which everybody on the machine can read. */
import type { Environment } from '../base/config.js'
import type { Json } from '../base/schema.js'
import type { FieldError } from '../http/errors.js'
import { readJson as readStrict } from '../http/server/json-text.js'
import { utf8Text } from '../base/text/well-formed.js'
import { jsonFault } from '../base/text/json-fault.js'
import { readGivenBytes, readSecretFile } from '../state/side/secret-file.js'
import { errors } from './told/errors.js'
import { readAll, readHidden } from './terminal.js'

/** Bytes of a secret at most. */
const mostBytes = 65_536
const lineEnd = 2
const tooLong = `gives more than ${mostBytes} bytes`

export interface SecretSource {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly environment: Environment
}

const sources = ['stdin', 'from-env', 'from-file'] as const

const bytesOf = ({ flags, environment }: SecretSource): Buffer | Promise<Buffer> => {
  const file = flags['from-file']
  if (typeof file === 'string') return Buffer.from(readSecretFile(file, { mayHaveLines: true }))
  const name = flags['from-env']
  if (typeof name === 'string') return Buffer.from(environment[name] ?? '')
  return readHidden('Secret (it is not shown): ', mostBytes)
}

/** The secret that `--stdin`, `--from-env` or `--from-file` names, without the end of its line. */
export const readSecret = async (source: SecretSource): Promise<string> => {
  const [flag = '', other] = sources.filter((one) => source.flags[one] !== undefined)
  if (other !== undefined) throw errors.flags_together({ details: { flag, other } })
  const refuse = (problem: string): never => {
    throw errors.flag_invalid({ details: { flag, problem } })
  }
  const bytes = await bytesOf(source)
  if (bytes.length > mostBytes + lineEnd) refuse(tooLong)
  const text = (utf8Text(bytes) ?? refuse('gives what is not UTF-8: give bytes as base64 or hex')).replace(
    /\r?\n$/u,
    '',
  )
  if (text.trim() === '') refuse('gives nothing')
  if (Buffer.byteLength(text) > mostBytes) refuse(tooLong)
  return text
}

/** Bytes of a document at most: as many as a request takes. */
const mostDocument = 1024 * 1024

const documentOf = (flags: SecretSource['flags'], flag: string): Buffer | Promise<Buffer> => {
  const given = flags[flag]
  if (typeof given !== 'string') return readAll(mostDocument)
  return flag === 'file' ? readGivenBytes(given, mostDocument) : Buffer.from(given)
}

/** Where it is no JSON, or says what no daemon takes; the text itself may be secret and is not told. */
const faultIn = (text: string, file: string | boolean | undefined, { path, rule }: FieldError): string => {
  const fault = jsonFault(text)
  const place =
    fault === undefined
      ? `${path.replace(/^body\.?/u, '') || 'it'} ${rule}`
      : `line ${fault.line}, column ${fault.column}: there must be ${fault.wanted}`
  const places = [...(typeof file === 'string' ? [file] : []), place]
  return `gives what is not ${fault === undefined ? 'taken' : 'JSON'}: ${places.join(', ')}`
}

/** The JSON that one of these flags gives: itself, in the file that `file` names, or on standard input for `stdin`. */
export const readJson = async ({ flags }: Pick<SecretSource, 'flags'>, own: string): Promise<Json | undefined> => {
  const [flag, other] = [...new Set([own, 'file', 'stdin'])].filter((one) => flags[one] !== undefined)
  if (flag === undefined) return undefined
  if (other !== undefined) throw errors.flags_together({ details: { flag, other } })
  const bytes = await documentOf(flags, flag)
  if (bytes.length > mostDocument)
    throw errors.flag_invalid({ details: { flag, problem: `gives more than ${mostDocument} bytes` } })
  const read = readStrict(bytes)
  if (read.ok) return read.value
  const problem = faultIn(bytes.toString('utf8'), flag === 'file' ? flags[flag] : undefined, read.error)
  throw errors.flag_invalid({ details: { flag, problem } })
}
