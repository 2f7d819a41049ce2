/** Numbers and keys of captures: each is used once, also over restarts, and also when nothing comes of it. */
import { integer, object, parse, record, string, unsafeCast, type Disk, type Ids } from '../../../../core/plugin.js'
import type { ItemHead } from './item.js'

const Stored = object({
  /** Of this spool alone: another one has other keys. */
  spool_id: string(),
  next: integer({ min: 1 }),
  /** The last number of each stream. */
  streams: record(integer({ min: 0 })),
})

export interface Numbers {
  /** The next number of the spool, and of the stream if it counts. Resolves when nobody else can get them. */
  take(stream_id: string, counts: boolean): Promise<Pick<ItemHead, 'seq_no' | 'idempotency_key'> & { own: number }>
}

export interface NumbersParts {
  readonly disk: Disk
  readonly ids: Ids
  /** Where they are kept. */
  readonly file: string
  /** The highest number that is in use. */
  readonly known: number
}

const readStored = ({ disk, file }: NumbersParts) => {
  try {
    const parsed = parse(
      Stored,
      unsafeCast<unknown>(JSON.parse(Buffer.from(disk.readFile(file) ?? []).toString('utf8'))),
    )
    return parsed.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

export const createNumbers = (parts: NumbersParts): Numbers => {
  const { disk, ids, file, known } = parts
  const { spool_id = ids.random(8), next = 1, streams = {} } = readStored(parts) ?? {}
  const counts = new Map(Object.entries(streams))
  let last = Math.max(known, next - 1)
  return {
    async take(stream_id, isCounted) {
      last += 1
      const [own, seq_no] = [last, (counts.get(stream_id) ?? 0) + 1]
      if (isCounted) counts.set(stream_id, seq_no)
      const stored = { spool_id, next: last + 1, streams: Object.fromEntries(counts) }
      await disk.replace(file, Buffer.from(`${JSON.stringify(stored)}\n`))
      return { own, idempotency_key: `capture-${spool_id}-${own}`, ...(isCounted && { seq_no }) }
    },
  }
}
