/** One attempt at the files of an event: each is stored, given up with the reason, or left for the next attempt. */
import { fault, Problem, type Clock, type Log } from '../../../../core/plugin.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { Connector, FetchedFile, FileSource } from '../../registry/contract.js'
import { fileTimeoutMs, mostFileBytes } from '../files/fetch-file.js'
import { fileNameOf } from '../files/file-name.js'
import { isSettled, type PendingEvent, type PendingFile } from './store.js'

export interface FetchParts {
  readonly assets: () => Assets | undefined
  readonly clock: Clock
  readonly log: Log
  /** What fetches the files of an event; undefined where its connector or its kind is not there now. */
  readonly find: (event: PendingEvent) => { readonly connector: Connector; readonly source: FileSource } | undefined
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal
}

/** What an attempt came to: `wait` is the longest that a server asked for. */
export interface Attempted {
  readonly files: readonly PendingFile[]
  readonly wait: number
}

/** After it no file is waited for any more. */
export const patienceMs = 3_600_000

/** One after the other, so that an event holds no more than one of them in memory. */
export const attemptFiles = async (parts: FetchParts, event: PendingEvent): Promise<Attempted> => {
  const isLate = parts.clock.now() >= event.accepted_at_ms + patienceMs
  const files: PendingFile[] = []
  let wait = 0
  for (const file of event.files) {
    const fetched = isSettled(file) ? undefined : await fetchOne(parts, event, file)
    if (fetched === undefined) files.push(file)
    else if (fetched.type !== 'retry') files.push(await settled(parts, file, fetched))
    else {
      wait = Math.max(wait, fetched.retry_after_ms ?? 0)
      files.push(isLate ? { ...file, missing: fetched.cause } : file)
    }
  }
  return { files, wait }
}

const fetchOne = async (parts: FetchParts, event: PendingEvent, { wanted }: PendingFile): Promise<FetchedFile> => {
  const { find, clock, signal, log } = parts
  if (parts.assets() === undefined) return { type: 'refused', cause: 'this daemon keeps no files' }
  const found = find(event)
  if (found === undefined) return { type: 'retry', cause: 'its connector is not there' }
  const late = new AbortController()
  const cancel = clock.after(fileTimeoutMs, () => late.abort())
  try {
    return await found.source.fetch(found.connector, wanted, AbortSignal.any([late.signal, signal]))
  } catch (error) {
    log.error('a source of files threw', { kind: event.kind, error })
    return { type: 'retry', cause: 'it could not be fetched' }
  } finally {
    cancel()
  }
}

const settled = async (
  { assets, log }: FetchParts,
  { wanted }: PendingFile,
  fetched: Exclude<FetchedFile, { type: 'retry' }>,
): Promise<PendingFile> => {
  if (fetched.type === 'refused') return { wanted, missing: fetched.cause }
  const { bytes, media_type } = fetched.file
  if (bytes.length === 0) return { wanted, missing: 'it is empty' }
  if (bytes.length > mostFileBytes) return { wanted, missing: 'it has more than 12 MiB' }
  const file_name = fileNameOf(fetched.file.file_name)
  try {
    const { asset_id } = (await assets()?.add({ bytes, media_type, file_name })) ?? absent()
    return { wanted, stored: { asset_id, file_name } }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // What there is no room or no time for now may be stored later.
    if (error.spec.status >= 429) return { wanted }
    log.warn('a file of a message was not stored', { code: error.code })
    return { wanted, missing: `it is not taken (${error.code})` }
  }
}

const absent = (): never => {
  throw fault('assets went away')
}
