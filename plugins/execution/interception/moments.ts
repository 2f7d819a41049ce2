/** What may be stopped or changed, and what is made of it. */
import type { Json, JsonObject } from '../../../core/plugin.js'

/** The moments that exist in this daemon; payloads.ts says what each is. */
export const moments = [
  'pre_tool_use',
  'post_tool_use',
  'post_tool_use_failure',
  'permission_request',
  'permission_denied',
  'setup',
  'session_start',
  'session_end',
  'stop',
  'stop_failure',
  'user_prompt_submit',
  'elicitation',
  'elicitation_result',
  'task_created',
  'task_completed',
  'pre_compact',
  'post_compact',
  'config_change',
  'notification',
  'subagent_start',
  'subagent_stop',
  'worktree_create',
  'worktree_remove',
] as const
/** Moments of things that this daemon does not do yet: hooks for them are kept, and nobody asks them. */
export const laterMoments = ['teammate_idle', 'file_changed', 'instructions_loaded', 'cwd_changed'] as const
/** One of `moments`. */
export type Moment = (typeof moments)[number]

/** What is about to happen, or has happened. */
export interface Invocation {
  readonly event: Moment
  /** What matchers look at: the name of a tool or of a setting. */
  readonly subject?: string
  readonly session_id?: string
  readonly agent_id?: string
  readonly run_id?: string
  /** Where the run works, which paths in the payload are of; absent where that is the workspace. Absolute path. */
  readonly cwd?: string
  /** By the moment, as `momentFacts` says. */
  readonly payload: JsonObject
  /** Waits for what other runs do, which may have the place of the run that asks meanwhile (runs-55). */
  readonly waitFor?: <T>(work: () => Promise<T>) => Promise<T>
}

/** What one of those who ruled did: what it said, and why. */
export interface RulingPart {
  readonly by: string
  /** The plugin that did it, where it is no hook. */
  readonly plugin?: string
  readonly did: readonly ('block' | 'allow' | 'deny' | 'ask' | 'input' | 'output' | 'context' | 'rules' | 'failed')[]
  readonly reason?: string
}

/** What whoever was asked makes of a moment. What a moment cannot use is ignored. */
export interface Ruling {
  /** Who has ruled, in order. */
  readonly by: readonly string[]
  /** What each of several did, in order; made of their rulings when they are taken together. */
  readonly parts?: readonly RulingPart[]
  /** It does not happen, and why. */
  readonly block?: string
  /** The plugin that said it, where it is no hook; the daemon says it. */
  readonly plugin?: string
  /** True where nobody was asked, since who would have to be cannot be known: `block` says why. */
  readonly locked?: true
  /** Of a call: the strictest of several counts, and no `allow` beats a rule that denies. */
  readonly permission?: 'allow' | 'deny' | 'ask'
  readonly reason?: string
  /** In place of the input of a call, or of what a run is told. */
  readonly updated_input?: Json
  /** In place of the output of a call. */
  readonly updated_output?: Json
  /** True if it gave the session permission rules: they are on the disk and count. */
  readonly gave_rules?: true
  /** Why it did nothing that it should have done, safe to show: nothing else of it counts, and nothing is stopped. */
  readonly failed?: string
  /** Texts that the model reads beside it. */
  readonly contexts?: readonly string[]
}
