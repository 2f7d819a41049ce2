/** Whether a deleted id is written again. */
import type { LinePlace, Op } from '../format/segment.js'
import type { FindingKind } from './survey/visitor.js'
import type { Fault } from '../format/line.js'

type Report = (kind: FindingKind, fault: Fault) => void

/**
 * A buried id is never written again; what is forgotten now may have been buried before. Tombstones come after the log,
 * and are not kept.
 */
export const watchTombstones = (report: Report, isForgetting: (collection: string) => boolean) => {
  const written = new Map<string, LinePlace>()
  const deleted = new Set<string>()
  const keyOf = (collection: string, id: string): string => JSON.stringify([collection, id])
  const complain = (collection: string, id: string, { file, offset }: LinePlace): void =>
    report('log', { file, offset, rule: `${id} of ${collection} is written after its id was buried` })
  return {
    op: (op: Op, place: LinePlace): void => {
      if (op[0] === 'app' || op[0] === 'rem' || isForgetting(op[1])) return
      const key = keyOf(op[1], op[2])
      if (op[0] === 'del') deleted.add(key)
      else if (deleted.has(key)) complain(op[1], op[2], place)
      else if (!written.has(key)) written.set(key, place)
    },
    tombstone: (collection: string, id: string): void => {
      const place = written.get(keyOf(collection, id))
      if (place !== undefined) complain(collection, id, place)
    },
  }
}
