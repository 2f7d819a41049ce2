/** Channels are made, changed and removed (channels-1 to channels-9). */
import { canonical, type Ids, type JsonObject, type Observers, type Tx } from '../../../core/plugin.js'
import { isSessionId } from '../../execution/sessions/contract.js'
import { assetErrors, type Assets } from '../../media/assets/contract.js'
import type { AutonomyPolicy, ChannelPart, ChannelRecord, Channels, MemberDraft, MemberRecord } from './contract.js'
import { channelErrors } from './errors.js'
import { namePins } from './record/assets.js'
import type { ChannelStore } from './record/store.js'
import { nameIn, nameOf, placedUnder, refuse } from './refuse.js'

const mostId = 200
const mostPins = 100
const mostProse = 4_000

/** What requests may say of a channel; in a change what is absent stays. */
export interface ChannelWish {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly purpose?: string | undefined
  readonly pinned_asset_ids?: readonly string[] | undefined
  readonly autonomy_policy?: AutonomyPolicy | undefined
  readonly default_participation_mode?: MemberRecord['participation_mode'] | undefined
  readonly paused?: boolean | undefined
  readonly metadata?: JsonObject | undefined
}
export interface ChannelDraft extends ChannelWish {
  readonly channel_id?: string | undefined
  readonly created_by?: string | undefined
  readonly members?: readonly MemberDraft[] | undefined
  readonly autonomy_policy: AutonomyPolicy
  readonly default_participation_mode: MemberRecord['participation_mode']
}

export interface ChangeParts {
  readonly store: ChannelStore
  readonly ids: Ids
  readonly assets: () => Pick<Assets, 'find'> | undefined
  readonly parts: () => readonly ChannelPart[]
  readonly observers: Pick<Observers<ChannelPart>, 'tell'>
  readonly channels: Pick<Channels, 'get' | 'putMember'>
}

const idOf = (ids: Ids, asked: string | undefined): string => {
  const id = nameIn('channel_id', asked, mostId) ?? ids.make('channel')
  return isSessionId(id) ? id : refuse('channel_id', 'must not be dots, and must not hold slashes and backslashes')
}

/** Trimmed; blank for none (channels-2). */
const proseOf = (field: string, text: string): string | undefined => {
  const trimmed = text.trim()
  if ([...trimmed].length > mostProse) refuse(field, `must have at most ${mostProse} characters`)
  return trimmed === '' ? undefined : trimmed
}

const pinsOf = (assets: Pick<Assets, 'find'> | undefined, asked: readonly string[]): readonly string[] => {
  const pins = [...new Set(asked.map((id, at) => nameOf(`pinned_asset_ids.${at}`, id, 400)))]
  if (pins.length > mostPins) refuse('pinned_asset_ids', `must be at most ${mostPins}`)
  for (const [at, asset_id] of pins.entries())
    if (assets?.find(asset_id) === undefined)
      throw assetErrors.asset_not_found({
        details: { asset_id },
        errors: [{ path: `body.pinned_asset_ids.${at}`, rule: 'must be there' }],
      })
  return pins
}

export const createChanges = ({ store, ids, assets, parts, observers, channels }: ChangeParts) => {
  /** What is named in the wish, as it is stored; what is empty is left out. */
  const changed = (before: ChannelRecord, wish: ChannelWish): ChannelRecord => {
    const { description, purpose, pinned_asset_ids, metadata, ...rest } = before
    const told = {
      description: wish.description === undefined ? description : proseOf('description', wish.description),
      purpose: wish.purpose === undefined ? purpose : proseOf('purpose', wish.purpose),
      metadata: wish.metadata ?? metadata,
    }
    const pins = wish.pinned_asset_ids === undefined ? pinned_asset_ids : pinsOf(assets(), wish.pinned_asset_ids)
    return {
      ...rest,
      ...(wish.title !== undefined && { title: nameOf('title', wish.title) }),
      ...(told.description !== undefined && { description: told.description }),
      ...(told.purpose !== undefined && { purpose: told.purpose }),
      ...(pins !== undefined && pins.length > 0 && { pinned_asset_ids: [...pins] }),
      autonomy_policy: wish.autonomy_policy ?? before.autonomy_policy,
      default_participation_mode: wish.default_participation_mode ?? before.default_participation_mode,
      paused: wish.paused ?? before.paused,
      ...(told.metadata !== undefined && Object.keys(told.metadata).length > 0 && { metadata: told.metadata }),
    }
  }
  return {
    create(tx: Tx, draft: ChannelDraft): ChannelRecord {
      const channel_id = idOf(ids, draft.channel_id)
      if (store.channels.has(channel_id) || store.removals.has(channel_id))
        throw channelErrors.channel_exists({ details: { channel_id } })
      const { autonomy_policy, default_participation_mode } = draft
      const blank: ChannelRecord = {
        channel_id,
        title: '',
        created_by: nameIn('created_by', draft.created_by) ?? 'system',
        autonomy_policy,
        default_participation_mode,
        paused: false,
        created_at_ms: tx.now,
        updated_at_ms: tx.now,
      }
      const channel = changed(blank, { ...draft, title: draft.title ?? '' })
      tx.insert(store.channels, channel)
      namePins(tx, store.assets, { after: channel })
      const named = new Set<string>()
      for (const [at, member] of (draft.members ?? []).entries())
        placedUnder(`members.${at}`, () => {
          const { member_id } = channels.putMember(tx, channel_id, member)
          if (named.has(member_id)) refuse('member_id', 'must not be named twice')
          named.add(member_id)
        })
      return channel
    },
    update(tx: Tx, channel_id: string, wish: ChannelWish): ChannelRecord {
      const before = channels.get(channel_id)
      const after = changed(before, wish)
      if (canonical(after) === canonical(before)) return before
      const updated_at_ms = Math.max(tx.now, before.updated_at_ms)
      const turned = after.paused ? { paused_at_ms: updated_at_ms } : { resumed_at_ms: updated_at_ms }
      const channel = { ...after, updated_at_ms, ...(after.paused !== before.paused && turned) }
      tx.put(store.channels, channel)
      namePins(tx, store.assets, { before, after: channel })
      observers.tell(tx, 'hearing of a changed channel', (part) => part.changed?.(tx, channel))
      return channel
    },
    remove(tx: Tx, channel_id: string): void {
      channels.get(channel_id)
      for (const part of parts()) {
        const reason = part.veto?.(channel_id)
        if (reason !== undefined) throw channelErrors.channel_in_use({ details: { channel_id, reason: `${reason}.` } })
      }
      tx.remove(store.channels, channel_id, 'removed')
      tx.insert(store.removals, { channel_id, removed_at_ms: tx.now })
      observers.tell(tx, 'hearing of a removed channel', (part) => part.removed?.(tx, channel_id))
    },
  }
}
/** What changes channels as a whole. */
export type Changes = ReturnType<typeof createChanges>
