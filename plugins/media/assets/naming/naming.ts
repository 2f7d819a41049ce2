/** What names an asset, as its holder tells it. */
import {
  answerOf,
  array,
  boolean,
  doc,
  integer,
  named,
  object,
  open,
  optional,
  string,
  type Answers,
  type Infer,
} from '../../../../core/plugin.js'

/** Something that names an asset. */
export const AssetReference = named(
  'AssetReference',
  object({
    domain: doc(string(), 'What kind of thing it is, such as `runs`.'),
    owner_id: doc(string(), 'Its id.'),
    role: doc(string(), 'What the asset is to it.'),
    hard: doc(boolean(), 'True if the asset cannot be deleted as long as it is named there.'),
    parent_id: optional(doc(string(), 'What it belongs to.')),
    detail_id: optional(doc(string(), 'Where in it.')),
  }),
)
/** The value form of `AssetReference`. */
export type AssetReference = Infer<typeof AssetReference>

/** A reference as its holder keeps it. */
export type KeptReference = Omit<AssetReference, 'domain' | 'hard'>

/** Which references are asked for. */
export interface ReferenceQuery {
  readonly asset_id: string
  /** Those that keep it, or those that do not. */
  readonly hard: boolean
  /** Most to return. */
  readonly limit: number
  /** The key of one: only those that come behind it. */
  readonly beyond?: string | undefined
}

/**
 * Records of which each names an asset once in one way. All of it is asked within the commit that deletes, and of each
 * asset when garbage is collected: it must come from an index, cost what it answers and no more, and must not throw.
 */
export interface AssetNaming {
  /** How many references an asset has. Must be exact. */
  count(asset_id: string, hard: boolean): number
  /** A part of them, in descending order of their keys, which are unique. */
  list(query: ReferenceQuery): readonly { readonly key: string; readonly reference: KeptReference }[]
  /** How an owner names an asset, if it does. Absent where nothing is found by its owner. */
  find?(asset_id: string, owner_id: string): KeptReference | undefined
}

const kept = open({
  owner_id: string(),
  role: string(),
  parent_id: optional(string()),
  detail_id: optional(string()),
})
/** An asset of which nobody can say whether it is named is kept. */
export const namingAnswers: Answers<AssetNaming> = {
  count: answerOf(integer({ min: 0 }), 1),
  list: answerOf(array(open({ key: string(), reference: kept })), []),
  find: answerOf(kept, undefined),
}

/** Somebody whose records name assets. */
export interface AssetHolder {
  /** The `domain` of its references. */
  readonly domain: string
  /** No reference may be in two of them. */
  readonly namings: readonly AssetNaming[]
}
