/**
 * What agents, schedules and others would say in a channel by themselves, and the work of its threads. Rules:
 * docs/rules/stimuli.md.
 */
import { defineToken, type JsonObject, type Token, type Tx } from '../../../core/plugin.js'
import type { StimulusKind } from './record/kinds.js'

/** What a stimulus tells of. */
export { stimulusKinds } from './record/kinds.js'
/** One of `stimulusKinds`. */
export type { StimulusKind } from './record/kinds.js'

/** A stimulus that a plugin brings; times in Unix ms. */
export interface StimulusDraft {
  readonly channel_id: string
  readonly scope: 'channel' | 'thread'
  readonly thread_root_message_id?: string | undefined
  readonly kind: StimulusKind
  readonly visibility_hint?: 'auto' | 'main' | 'thread' | undefined
  readonly content: string
  readonly addressed_member_ids?: readonly string[] | undefined
  readonly sender_session_id?: string | undefined
  readonly sender_actor_id?: string | undefined
  readonly sender_display_name?: string | undefined
  readonly source_kind?: string | undefined
  readonly source_ref?: string | undefined
  readonly dedupe_key?: string | undefined
  readonly progress_key?: string | undefined
  readonly available_at_ms?: number | undefined
  readonly expires_at_ms?: number | undefined
  readonly metadata?: JsonObject | undefined
}

/** Stimuli, for plugins that bring some. */
export interface Stimuli {
  /** Keeps one in a commit; gives its id. Throws the problems of `POST /v1/channels/{channel_id}/stimuli`. */
  create(tx: Tx, draft: StimulusDraft): string
}
/** Stimuli, for plugins that bring some. */
export const Stimuli: Token<Stimuli> = defineToken<Stimuli>('stimuli@1')
