/** A transcription server that listens: `pocketsphinx` writes down what it hears, without a network. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { freshFolder } from './folders.js'
import { saying, startTranscriptionServer, type AskedSound, type TranscriptionServer } from './transcription-server.js'

/** What a test needs to be judged by for it. */
export const listeners = ['ffmpeg', 'pocketsphinx_continuous', 'pocketsphinx-en-us'] as const

/** Half of its time, for a few words that it hears otherwise. */
const hasty = ['-topn', '2', '-maxhmmpf', '5000', '-logfn', '/dev/null']

const run = promisify(execFile)

/** What is said in a sound, whatever it is packed in: its file's name tells that. */
const heard = async ({ file }: AskedSound): Promise<string> => {
  const folder = freshFolder()
  const [given, plain] = [path.join(folder, file.name), path.join(folder, 'plain.wav')]
  await writeFile(given, file.bytes)
  await run('ffmpeg', ['-nostdin', '-loglevel', 'error', '-i', given, '-ar', '16000', '-ac', '1', '-y', plain])
  const { stdout } = await run('pocketsphinx_continuous', ['-infile', plain, ...hasty])
  return stdout.replaceAll(/\s+/gu, ' ').trim()
}

export const startListeningServer = async (t: ExecutionContext<any>): Promise<TranscriptionServer> => {
  const server = await startTranscriptionServer(t)
  server.answer(async (asked, response) => saying(await heard(asked))(asked, response))
  return server
}
