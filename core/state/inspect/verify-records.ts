/** Records and entries against their structs, and the ids they name against the records that are there. */
import { parse } from '../../base/parse.js'
import type { AnyStruct, Json, JsonObject } from '../../base/schema.js'
import type { BlobRef, CollectionSpec, StreamSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import type { LinePlace } from '../format/segment.js'
import type { Known } from './survey/lookup.js'
import type { FindingKind } from './survey/visitor.js'

/** What plugins declared; without it checksums, order and names are checked, and no record is. */
export interface Declarations {
  readonly collections: ReadonlyMap<string, CollectionSpec<object>>
  readonly streams: ReadonlyMap<string, StreamSpec<Json>>
}
export const noDeclarations: Declarations = { collections: new Map(), streams: new Map() }

interface Named {
  readonly collection: string
  readonly id: string
  readonly by: string
  readonly place: LinePlace
}

const firstIssue = (struct: AnyStruct | undefined, value: unknown): string | undefined => {
  if (struct === undefined) return undefined
  const parsed = parse(struct, value)
  return parsed.ok ? undefined : `${parsed.issues[0]?.path ?? ''} ${parsed.issues[0]?.rule ?? ''}`.trim()
}

type Read = (collection: string, found: { readonly id: string; readonly record: JsonObject }, place: LinePlace) => void

export interface RecordWatch {
  /** Told of each record that counts. */
  readonly read: Read
  readonly hasBlob: (area: string, ref: BlobRef) => boolean
  /** A record that is named may be gone because it fell. */
  readonly hasFallen: (collection: string, id: string) => boolean
}

export const watchRecords = (
  report: (kind: FindingKind, fault: Fault) => void,
  { collections, streams }: Declarations,
  { read, hasBlob, hasFallen }: RecordWatch,
) => {
  const counts = new Map<string, number>()
  /** Ids of collections of which only a look at all records tells what is there. */
  const seen = new Map<string, Set<string>>()
  let known: Known = { has: () => undefined, tells: () => false }
  const latest = new Map<string, Map<string, { record: JsonObject; place: LinePlace }>>()
  const named: Named[] = []
  const complain = (kind: FindingKind, { file, offset }: LinePlace, rule: string): void =>
    report(kind, { file, offset, rule })

  const miss = ({ collection, id, by, place }: Named): void =>
    complain('reference', place, `${by} names ${id} of ${collection}, which is not there`)
  const refer = (reference: Named): void => {
    const isThere = known.has(reference.collection, reference.id)
    if (isThere === undefined) named.push(reference)
    else if (!isThere && !hasFallen(reference.collection, reference.id)) miss(reference)
  }

  const check = (collection: string, { id, record }: { id: string; record: JsonObject }, place: LinePlace): void => {
    counts.set(collection, (counts.get(collection) ?? 0) + 1)
    if (!known.tells(collection)) seen.set(collection, (seen.get(collection) ?? new Set()).add(id))
    read(collection, { id, record }, place)
    const spec = collections.get(collection)
    if (spec === undefined) return
    const issue = firstIssue(spec.schema, record)
    if (issue !== undefined) return complain('record', place, `${id} of ${collection} breaks its struct: ${issue}`)
    if (spec.id(record) !== id) complain('record', place, `${id} of ${collection} calls itself ${spec.id(record)}`)
    for (const reference of spec.references?.(record) ?? [])
      refer({ ...reference, by: `${id} of ${collection}`, place })
    for (const { area, ...ref } of spec.blobs?.(record) ?? [])
      if (!hasBlob(area, ref))
        complain(
          'reference',
          place,
          `${id} of ${collection} names ${ref.sha256} of blobs/${area}, which is not there whole`,
        )
  }
  const put = (collection: string, { id, record }: { id: string; record: JsonObject }, place: LinePlace): void =>
    void latest.set(
      collection,
      (latest.get(collection) ?? new Map<string, { record: JsonObject; place: LinePlace }>()).set(id, {
        record,
        place,
      }),
    )
  return {
    /** A record that counts as it stands. */
    record: check,
    /** Written by the log; only the last one counts. */
    put,
    remove: (collection: string, id: string) => void latest.get(collection)?.delete(id),
    entry: (
      stream: string,
      { owner, seq, entry }: { owner: string; seq: number; entry: unknown },
      place: LinePlace,
    ) => {
      const issue = firstIssue(streams.get(stream)?.schema, entry)
      if (issue !== undefined)
        complain('record', place, `entry ${seq} of ${owner} in ${stream} breaks its struct: ${issue}`)
    },
    /** Call after the log was read, before the record pages. */
    settle: () => {
      for (const [collection, records] of latest)
        for (const [id, { record, place }] of records) check(collection, { id, record }, place)
    },
    /** What tells which records are there; call before any of them is given. */
    found: (found: Known) => {
      known = found
    },
    finish: () => {
      for (const one of named)
        if (seen.get(one.collection)?.has(one.id) !== true && !hasFallen(one.collection, one.id)) miss(one)
    },
    counts: () => Object.fromEntries(counts),
  }
}
