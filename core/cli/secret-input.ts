/** Where a command takes a secret from: never from the command line, which everybody on the machine can read. */
import type { Environment } from '../base/config.js'
import { readSecretFile } from '../state/side/secret-file.js'
import { errors } from './errors.js'
import { readHidden } from './terminal.js'

/** Bytes of a secret at most. */
const mostBytes = 65_536

export interface SecretSource {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly environment: Environment
}

const sources = ['stdin', 'from-env', 'from-file', 'file'] as const

const textOf = async ({ flags, environment }: SecretSource): Promise<string> => {
  const file = flags['from-file'] ?? flags['file']
  if (typeof file === 'string') return readSecretFile(file, { mayHaveLines: true })
  const name = flags['from-env']
  if (typeof name === 'string') return environment[name] ?? ''
  return readHidden('Secret (it is not shown): ', mostBytes)
}

/** The secret that `--stdin`, `--from-env`, `--from-file` or `--file` names, without the end of its line. */
export const readSecret = async (source: SecretSource): Promise<string> => {
  const [flag = '', other] = sources.filter((one) => source.flags[one] !== undefined)
  if (other !== undefined) throw errors.flags_together({ details: { flag, other } })
  const text = (await textOf(source)).replace(/\r?\n$/u, '')
  if (text.trim() === '') throw errors.flag_invalid({ details: { flag, problem: 'gives nothing' } })
  if (Buffer.byteLength(text) > mostBytes)
    throw errors.flag_invalid({ details: { flag, problem: `gives more than ${mostBytes} bytes` } })
  return text
}
