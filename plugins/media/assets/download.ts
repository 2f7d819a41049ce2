/** Files of the daemon as files of whoever asks on the command line. */
import path from 'node:path'
import {
  commandErrors,
  commandLine,
  digestBytes,
  isThere,
  makeFile,
  number,
  open,
  optional,
  parse,
  realFolder,
  showSize,
  string,
  visibleLine,
  type CommandFlag,
  type CommandInput,
  type Infer,
  thrownText,
} from '../../../core/plugin.js'

/** An asset as those name it who put it out, as far as it is shown. */
export const ShownFile = open({
  id: string(),
  media_type: string(),
  file_name: optional(string()),
  byte_length: optional(number()),
})
export type ShownFile = Infer<typeof ShownFile>

/** A file in one line, with the command that gives it. */
export const fileText = ({ id, media_type, file_name, byte_length }: ShownFile): string => {
  const said = [file_name ?? id, media_type, ...(byte_length === undefined ? [] : [showSize(byte_length)])]
  return `${said.map(visibleLine).join(', ')}: ${visibleLine(commandLine('assets download', id))}`
}

/** Says where a file goes. */
export const toFlag: Readonly<Record<string, CommandFlag>> = {
  to: {
    kind: 'text',
    value: 'file',
    summary: 'The file to make, or the folder to put it in; by its own name into this folder when absent.',
  },
}

/** Bytes of a name, which file systems take with something behind it. */
const mostName = 200

/** A name that hides nothing and is no flag: files come from models and from strangers. */
export const safeName = (file_name: string, fallback: string): string => {
  const plain = file_name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_')
    .replace(/^[.\-~\s]+/u, '')
    .trim()
  return plain === '' || Buffer.byteLength(plain) > mostName ? fallback : plain
}

const Stored = open({ asset_id: string(), file_name: string(), sha256: string(), byte_length: number() })
/** What came of it. */
export const Downloaded = open({ file: string(), asset_id: string(), byte_length: number() })
export const showDownloaded = ({ file, byte_length }: Infer<typeof Downloaded>): string =>
  `${visibleLine(file)} is written: ${showSize(byte_length)}.`

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : thrownText(error)

const write = (file: string, bytes: Uint8Array): void => {
  try {
    makeFile(file, bytes)
  } catch (error) {
    const reason = codeOf(error)
    if (reason === 'EEXIST') throw commandErrors.file_taken({ details: { file } })
    throw commandErrors.file_unwritten({ details: { file, reason }, cause: error })
  }
}

const ends = { raw: '', text: '.txt', preview: '.preview.png' } as const

type Asking = Pick<CommandInput, 'client' | 'flags'>

/** Where it goes: `--to`, or into that folder. */
const placeOf = ({ flags }: Asking, name: string): string => {
  const to = typeof flags['to'] === 'string' ? flags['to'] : '.'
  return path.resolve(realFolder(to)?.isFolder === true ? path.join(to, name) : to)
}

/** Writes an asset to a file that is not there yet, whole or not at all. */
export const download = async (input: Asking, asset_id: string, part: keyof typeof ends = 'raw') => {
  const { client } = input
  const url = `/v1/assets/${encodeURIComponent(asset_id)}`
  const parsed = parse(Stored, await client.get(url))
  const unreadable = () => commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
  if (!parsed.ok) throw unreadable()
  const { file_name, sha256 } = parsed.value
  const file = placeOf(input, `${safeName(file_name, asset_id)}${ends[part]}`)
  if (isThere(file)) throw commandErrors.file_taken({ details: { file } })
  const bytes = await client.bytes(`${url}/${part}`)
  if (part === 'raw' && (await digestBytes(bytes)) !== sha256) throw unreadable()
  write(file, bytes)
  return { file, asset_id, byte_length: bytes.length }
}
