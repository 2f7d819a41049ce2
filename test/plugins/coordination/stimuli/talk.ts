/** A channel with two sessions and a person, for tests of what is said by itself. */
import type { ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { startTestDaemon, type Reachable, type TestDaemonOptions } from '../../../support/daemon.js'

export const channel = '/v1/channels/garden'

export const handsOf = ({ request }: Pick<Reachable, 'request'>) => {
  const stimuli = async (query = ''): Promise<any[]> => (await request('GET', `${channel}/stimuli${query}`)).body
  const eventually = async <T>(look: () => Promise<T>, is: (found: T) => boolean): Promise<T> => {
    for (const end = Date.now() + 20_000; ;) {
      const found = await look()
      if (is(found)) return found
      if (Date.now() > end) throw new Error(`it did not come about: ${JSON.stringify(found)}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  return {
    stimuli,
    eventually,
    messages: async (): Promise<any[]> => (await request('GET', `${channel}/messages`)).body,
    work: async (query = ''): Promise<any[]> => (await request('GET', `${channel}/thread-work${query}`)).body,
    metrics: async (): Promise<any> => (await request('GET', channel)).body.moderation_metrics,
    say: async (body: JsonObject = {}): Promise<any> =>
      request('POST', `${channel}/stimuli`, { scope: 'channel', kind: 'agent_idea', content: 'An idea.', ...body }),
    /** The stimulus, once nothing more becomes of it. */
    over: async (stimulus_id: string): Promise<any> =>
      (
        await eventually(stimuli, (all) =>
          all.some((one) => one.stimulus_id === stimulus_id && one.state !== 'pending'),
        )
      ).find((one) => one.stimulus_id === stimulus_id),
    /** The stimulus, once it is told why it waits. */
    held: async (stimulus_id: string): Promise<any> =>
      (await eventually(stimuli, (all) => all.some((one) => one.stimulus_id === stimulus_id && one.last_error))).find(
        (one) => one.stimulus_id === stimulus_id,
      ),
    post: async (content: string, more: JsonObject = {}): Promise<any> =>
      (await request('POST', `${channel}/messages`, { sender_actor_id: 'ann', content, ...more })).body,
    change: (body: JsonObject) => request('PUT', channel, body),
  }
}

export const open: JsonObject = {
  quiet_period_ms_after_root_post: 0,
  max_active_autonomous_roots: 1000,
  max_autonomous_root_posts_per_hour: 1000,
}

export const startTalk = async (
  t: ExecutionContext,
  { policy = open, ...more }: { policy?: JsonObject } & TestDaemonOptions = {},
) => {
  const daemon = await startTestDaemon(t, more)
  for (const session_id of ['A', 'B']) await daemon.request('POST', '/v1/sessions', { session_id })
  const made = await daemon.request('POST', '/v1/channels', {
    channel_id: 'garden',
    title: 'The garden',
    members: [
      { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' },
      { member_id: 'A', member_kind: 'session', display_name: 'Alder' },
      { member_id: 'B', member_kind: 'session', display_name: 'Birch' },
    ],
    autonomy_policy: policy,
  })
  t.is(made.status, 201, JSON.stringify(made.body))
  return Object.assign(daemon, handsOf(daemon))
}
