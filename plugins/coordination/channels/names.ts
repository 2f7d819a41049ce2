/** What members are called who are called as their agents are (channels-14 to channels-16). */
import { createPause, tellFailure, type Log, type State } from '../../../core/plugin.js'
import type { SessionAgents, Sessions } from '../../execution/sessions/contract.js'
import type { MemberRecord } from './record/record.js'
import type { ChannelStore } from './record/store.js'

export interface NameParts {
  readonly store: ChannelStore
  readonly sessions: Pick<Sessions, 'find'>
  readonly agents: () => Pick<SessionAgents, 'find'> | undefined
}

export interface Names {
  /** What the agent of a session is called; undefined where there is no such session. */
  visible(session_id: string): string | undefined
  /** The member as it is called now. */
  current(member: MemberRecord): MemberRecord
}

export const createNames = ({ sessions, agents }: NameParts): Names => {
  const visible: Names['visible'] = (session_id) => {
    const spawned = agents()?.find(session_id)
    return spawned?.nickname ?? spawned?.name ?? sessions.find(session_id)?.agent_id
  }
  return {
    visible,
    current(member) {
      const { display_name_mode, session_id, display_name } = member
      if (display_name_mode !== 'follow_agent' || session_id === undefined) return member
      const name = visible(session_id) ?? display_name
      return name === display_name ? member : { ...member, display_name: name }
    },
  }
}

/** Members whose stored names one commit corrects. */
const atOnce = 100

interface FollowParts extends NameParts {
  readonly names: Names
  readonly state: State
  readonly log: Log
}

/** Keeps stored names, by which members are looked for, as the names are: reads never show a stored one. */
export const createFollowing = ({ store: { members }, names, state, log }: FollowParts) => {
  const stale = (session_id: string): readonly MemberRecord[] =>
    members.ids('following', session_id).flatMap((key) => {
      const member = members.find(key)
      return member === undefined || names.current(member) === member ? [] : [member]
    })
  const correct = (session_id: string): Promise<boolean> =>
    state.commit((tx) => {
      const some = stale(session_id)
      for (const member of some.slice(0, atOnce)) tx.put(members, names.current(member))
      return some.length > atOnce
    })
  const follow = async (session_id: string): Promise<void> => {
    if (members.count('following', session_id) === 0 || stale(session_id).length === 0) return
    while (await correct(session_id));
  }
  const quietly = (session_id: string): Promise<void> =>
    follow(session_id).catch((error: unknown) =>
      tellFailure({ log, state }, 'a member could not be called as its agent is', { session_id, error }),
    )
  return {
    renamed: (session_id: string): void => void quietly(session_id),
    /** What a life before did not get to. */
    async repair(signal: AbortSignal): Promise<void> {
      const pause = createPause(16)
      for (const session_id of members.groups('following')) {
        if (signal.aborted) return
        await quietly(session_id)
        await pause()
      }
    },
  }
}
