/** The ways in which a source is taken: a command that puts out a capture, or a folder whose files are captures. */
import type { Lasting } from '../../../../core/plugin.js'
import type { FileSource } from './agent-file.js'
import type { NewItem, Spool } from './spool.js'
import type { Telling } from './telling.js'

export interface WayParts {
  readonly source: FileSource
  readonly tools: Lasting
  readonly spool: Spool
  readonly telling: Telling
  readonly signal: AbortSignal
}

/** `took`: so many were kept. `unsettled`: something is not whole yet. `failed`: nothing could be taken. */
export type Taken = { readonly type: 'took' | 'unsettled' | 'failed'; readonly count: number }

export interface Way {
  /** Takes what there is now, into the spool. Never rejects but for a spool that cannot be used. */
  take(): Promise<Taken>
}

/** What a source is called in a sentence: two streams may be of one. */
export const labelOf = ({ source_id, driver }: FileSource): string => `${source_id} (${driver.metadata.role})`

const inOneLine = /\p{Cc}+/gu

/** A capture of a source as it goes into the spool. */
export const itemOf = (
  { stream_id, source_id, driver }: FileSource,
  { file_name, ...given }: Omit<NewItem['head'], 'source_id' | 'stream_id' | 'metadata'>,
): NewItem['head'] => ({
  source_id,
  stream_id,
  file_name: file_name.replaceAll(inOneLine, '_'),
  metadata: { ...driver.metadata },
  ...given,
})

/** Says what was lost on the way into the spool; true if the capture is in it. */
export const keep = async ({ source, spool, telling }: WayParts, item: NewItem): Promise<boolean> => {
  const { ok, dropped } = await spool.add(item)
  if (dropped > 0) telling.say('dropped', `The spool is full: its oldest captures were dropped, ${dropped} of them.`)
  telling.state('disk', ok ? undefined : `it is full, and a capture of ${labelOf(source)} was not kept.`)
  return ok
}
