/** `holdfast capture-agents provision`: from the command line to a file for each machine. */
import path from 'node:path'
import {
  array,
  codeOf,
  commandErrors,
  object,
  open,
  parse,
  string,
  type CommandInput,
  type Disk,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'
import { clientErrors } from '../client/errors.js'
import { normalised } from './names.js'

/** What is shown: never a token. */
export const Written = open({ batch_id: string(), files: array(object({ machine_id: string(), file: string() })) })
type Written = Infer<typeof Written>
const Answer = open({ batch_id: string(), agents: array(open({ machine_id: string(), config_toml: string() })) })

type Input = Pick<CommandInput, 'args' | 'flags' | 'client' | 'json' | 'lasting'>

const textOf = ({ flags }: Pick<Input, 'flags'>, flag: string): string | undefined => {
  const value = flags[flag]
  return typeof value === 'string' ? value : undefined
}
const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** A number as it was typed: the daemon says what is wrong with it. */
const numberOf = (text: string): number | string => (/^\d{1,15}$/u.test(text) ? Number(text) : text)

const ownFlags = ['machines', 'os', 'sources', 'daemon-url', 'interval-ms'] as const

/** Names that are no source are sent as they are: the daemon says that there is none. */
const sourcesOf = (text: string): Json => ({
  screen: false,
  ...Object.fromEntries(listOf(text).map((name) => [name.replaceAll('-', '_'), true])),
})

const requestOf = async (input: Input): Promise<Json> => {
  const given = await input.json('file')
  if (given !== undefined) {
    const other = ownFlags.find((flag) => textOf(input, flag) !== undefined)
    if (other === undefined) return given
    throw commandErrors.flags_together({ details: { flag: 'file', other } })
  }
  const [os, interval] = [textOf(input, 'os'), textOf(input, 'interval-ms')]
  const sources = textOf(input, 'sources') ?? (os === undefined || os === 'macos' ? undefined : 'microphone')
  return {
    batch_id: input.args['batch_id'] ?? '',
    daemon_base_url: textOf(input, 'daemon-url') ?? input.client.baseUrl,
    agents: listOf(textOf(input, 'machines') ?? '').map((machine_id) => ({ machine_id })),
    ...(os !== undefined && { os_profile: os }),
    ...(sources !== undefined && { sources: sourcesOf(sources) }),
    ...(interval !== undefined && { interval_ms: numberOf(interval) }),
  }
}

const Machines = open({ agents: array(open({ machine_id: string() })) })
const fileOf = (folder: string, machine_id: string): string => path.join(folder, `${path.basename(machine_id)}.toml`)

/** Makes the folder and writes into it; throws `capture_files_refused` where no file of these machines could be. */
const makePlace = async (disk: Disk, folder: string, request: Json): Promise<void> => {
  const refused = (at: string, reason: string, cause?: unknown): Error =>
    clientErrors.capture_files_refused({ details: { path: at, reason }, cause })
  try {
    await disk.makeFolder(folder)
    const probe = path.join(folder, '.capture-agents')
    await disk.replace(probe, new Uint8Array(1024))
    await disk.unlink(probe)
  } catch (cause) {
    throw refused(folder, `is no folder that can be written (${codeOf(cause) ?? 'there is something else'})`, cause)
  }
  const parsed = parse(Machines, request)
  for (const { machine_id } of parsed.ok ? parsed.value.agents : []) {
    const file = fileOf(folder, normalised(machine_id) ?? machine_id)
    if ((disk.stat(file)?.kind ?? 'file') !== 'file') throw refused(file, 'is no file')
  }
}

/** Tokens are told once: before they are made it is sure that there is a place for them. */
export const provisionAgents = async (input: Input): Promise<Json> => {
  const request = await requestOf(input)
  const send = (): Promise<Json> => input.client.send('POST', '/v1/capture-agent-provisions', request)
  const into = textOf(input, 'into')
  if (into === undefined) return send()
  return input.lasting(async ({ disk }): Promise<Json> => {
    const folder = path.resolve(into)
    await makePlace(disk, folder, request)
    const answer = await send()
    const parsed = parse(Answer, answer)
    if (!parsed.ok) throw commandErrors.answer_unreadable({ details: { url: input.client.baseUrl } })
    const files: Written['files'] = []
    for (const { machine_id, config_toml } of parsed.value.agents) {
      const file = fileOf(folder, machine_id)
      await disk.replace(file, Buffer.from(config_toml))
      files.push({ machine_id, file })
    }
    return { batch_id: parsed.value.batch_id, files }
  })
}
