/** Channels that projects link, and the members that are mirrored there; docs/rules/projects.md. */
import test from 'ava'
import { definePlugin } from '../../../../core/plugin.js'
import { ChannelParts } from '../../../../plugins/coordination/channels/contract.js'
import { shippedPlugins } from '../../../../core/shipped.js'
import { asShipped } from '../../../../core/testing/test-daemon.js'
import { codeOf } from '../../../support/runs.js'
import { ada, bob, cleo, membersOf, path, startGarden, type Garden } from './garden.js'

const defaults = async (garden: Garden): Promise<string[]> =>
  (await garden.make('GET', '/v1/projects/garden/channels')).flatMap((link: any) =>
    link.default_for_new_tasks ? [link.channel_id as string] : [],
  )
const channels = async (garden: Garden, ...ids: string[]): Promise<void> => {
  for (const channel_id of ids) await garden.make('POST', '/v1/channels', { channel_id, title: channel_id })
}

test('projects-9: exactly one link is the default, whatever happens', async (t) => {
  const garden = await startGarden(t)
  await channels(garden, 'a', 'b', 'c')
  const link = (channel_id: string, more = {}) =>
    garden.make('POST', '/v1/projects/garden/channels', { channel_id, ...more })
  t.deepEqual(await defaults(garden), [])
  t.true((await link('b')).default_for_new_tasks, 'the first one')
  await link('a')
  t.deepEqual(await defaults(garden), ['b'])
  await link('c', { default_for_new_tasks: true })
  t.deepEqual(await defaults(garden), ['c'])
  t.false((await link('c')).default_for_new_tasks)
  t.deepEqual(await defaults(garden), ['b'], 'nothing is marked any more: the first in the order of linking')
  t.true((await link('b', { role: 'r' })).default_for_new_tasks)
  await link('a', { default_for_new_tasks: true })
  await garden.make('DELETE', '/v1/projects/garden/channels/c')
  t.deepEqual(await defaults(garden), ['a'])
  await garden.make('DELETE', '/v1/projects/garden/channels/a')
  t.deepEqual(await defaults(garden), ['b'])
  await garden.make('DELETE', '/v1/projects/garden/channels/b')
  t.deepEqual(await defaults(garden), [])
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/channels/b`)), [404, 'project_link_not_found'])
  t.deepEqual(codeOf(await garden.request('POST', `${path}/channels`, { channel_id: 'z' })), [404, 'channel_not_found'])
})

test('projects-9: of a new project the first that is marked is the default, else the first', async (t) => {
  const garden = await startGarden(t)
  await channels(garden, 'a', 'b', 'c')
  const create = async (project_id: string, channel_links: object[]): Promise<any[]> =>
    (await garden.make('POST', '/v1/projects', { project_id, display_name: 'x', channel_links })).channel_links
  const marked = { default_for_new_tasks: true }
  for (const [id, links, chosen] of [
    ['p1', [{ channel_id: 'c' }, { channel_id: 'a' }], 'c'],
    ['p2', [{ channel_id: 'a' }, { channel_id: 'b', ...marked }, { channel_id: 'c', ...marked }], 'b'],
  ] as const) {
    const made = await create(id, [...links])
    t.deepEqual(
      made.map(({ channel_id }) => channel_id),
      links.map(({ channel_id }) => channel_id),
    )
    t.deepEqual(
      made.filter((link) => link.default_for_new_tasks).map(({ channel_id }) => channel_id),
      [chosen],
    )
  }
})

test('projects-10: members are mirrored into linked channels, and follow every change', async (t) => {
  const garden = await startGarden(t, {
    project: { channel_links: [{ channel_id: 'beds', mirror_members: true }] },
  })
  const ids = async (): Promise<string[]> => (await membersOf(garden)).map(({ member_id }) => member_id)
  const [first] = await membersOf(garden)
  t.like(first, {
    member_id: 'project:garden:ada',
    member_kind: 'session',
    display_name_mode: 'manual',
    display_name: 'Ada',
    session_id: 's1',
    role: 'digger',
    participation_mode: 'manual_only',
    muted: false,
  })
  t.like((await membersOf(garden))[2], { member_id: 'project:garden:cleo', actor_id: 'cleo' })
  const own = { member_id: 'zoe', member_kind: 'human_actor', display_name: 'Zoe' }
  await garden.make('POST', '/v1/channels/beds/members', own)
  await garden.make('POST', '/v1/projects/garden/members', { ...ada, display_name: 'Ada L.', role: undefined })
  const renamed = (await membersOf(garden))[0]
  t.like(renamed, { display_name: 'Ada L.', role: undefined, joined_at_ms: first.joined_at_ms })
  await garden.make('DELETE', '/v1/projects/garden/members/bob')
  t.deepEqual(await ids(), ['project:garden:ada', 'project:garden:cleo', 'zoe'])
  // What somebody changed there is set right by the next look at the link.
  await garden.make('DELETE', '/v1/channels/beds/members/project%3Agarden%3Acleo')
  await garden.make('POST', '/v1/channels/beds/members', { ...own, member_id: 'project:garden:stale' })
  await garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'beds', mirror_members: true })
  t.deepEqual(await ids(), ['project:garden:ada', 'project:garden:cleo', 'zoe'])
  await garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'beds' })
  t.deepEqual(await ids(), ['zoe'])
  await garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'beds', mirror_members: true })
  await garden.make('DELETE', '/v1/projects/garden/channels/beds')
  t.deepEqual(await ids(), ['zoe'])
})

test('projects-10: every change of a member or a link sets right what was changed by hand', async (t) => {
  const mirrored = { channel_id: 'beds', mirror_members: true }
  const garden = await startGarden(t, { project: { channel_links: [mirrored] } })
  await channels(garden, 'a')
  const changes = [
    () => garden.make('POST', '/v1/projects/garden/members', { ...ada, display_name: 'Ada L.' }),
    () => garden.make('POST', '/v1/projects/garden/members', { ...ada, display_name: 'Ada L.' }),
    () => garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'a', mirror_members: true }),
    () => garden.make('DELETE', '/v1/projects/garden/channels/a'),
    () => garden.make('DELETE', '/v1/projects/garden/members/bob'),
  ]
  for (const [n, change] of changes.entries()) {
    await garden.make('DELETE', '/v1/channels/beds/members/project%3Agarden%3Acleo')
    await garden.make('POST', '/v1/channels/beds/members', { ...cleo, member_id: 'project:garden:ghost' })
    await garden.make('POST', '/v1/channels/beds/members', { ...cleo, member_id: 'project:gardens:ghost' })
    await change()
    const ids = (await membersOf(garden)).map(({ member_id }) => member_id)
    t.false(ids.includes('project:garden:ghost'), `${n}`)
    t.true(ids.includes('project:garden:cleo'), `${n}`)
    t.true(ids.includes('project:gardens:ghost'), 'it is of no project of ours')
  }
})

test('projects-10: what fails in a channel undoes the change of the project too', async (t) => {
  const strict = definePlugin({
    id: 'strict',
    version: '1.0.0',
    api: 1,
    summary: 'Lets nobody leave a channel.',
    register(ctx) {
      ctx.contribute(ChannelParts, {
        id: 'strict',
        left() {
          throw new RangeError('nobody leaves')
        },
      })
    },
  })
  const garden = await startGarden(t, {
    shipped: [...(await shippedPlugins()), asShipped(strict)],
    project: { channel_links: [{ channel_id: 'beds', mirror_members: true }] },
  })
  const before = [await garden.make('GET', '/v1/projects/garden'), await membersOf(garden)]
  t.is((await garden.request('DELETE', `${path}/members/bob`)).status, 500)
  t.is((await garden.request('POST', `${path}/channels`, { channel_id: 'beds' })).status, 500)
  t.is((await garden.request('DELETE', `${path}/channels/beds`)).status, 500)
  t.is((await garden.request('DELETE', path)).status, 500)
  t.deepEqual([await garden.make('GET', '/v1/projects/garden'), await membersOf(garden)], before)
})

test('projects-10: a channel that is full takes the change of the project back', async (t) => {
  const garden = await startGarden(t, { config: { projects: { max_members: 10_000, max_mirrored: 20_000 } } })
  const people = Array.from({ length: 9_999 }, (_, n) => ({
    member_id: `m${n}`,
    member_kind: 'human_actor',
    display_name: 'M',
  }))
  await garden.make('POST', '/v1/projects', {
    project_id: 'crowd',
    display_name: 'Crowd',
    members: people,
    channel_links: [{ channel_id: 'beds', mirror_members: true }],
  })
  const full = await garden.request('POST', `${path}/channels`, { channel_id: 'beds', mirror_members: true })
  t.deepEqual(codeOf(full), [409, 'channel_full'])
  t.deepEqual(await garden.make('GET', '/v1/projects/garden/channels'), [])
  t.is((await garden.make('GET', '/v1/channels/beds')).member_count, 9_999)
})

test('projects-11: a link that a task needs stays, and a linked channel stays', async (t) => {
  const garden = await startGarden(t, { project: { channel_links: [{ channel_id: 'beds' }] } })
  await garden.make('POST', '/v1/channels/beds/members', { ...cleo })
  const { message_id } = await garden.make('POST', '/v1/channels/beds/messages', {
    sender_actor_id: 'cleo',
    content: 'Hello',
  })
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 't',
    title: 't',
    discussion_channel_id: 'beds',
    discussion_thread_root_message_id: message_id,
  })
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/channels/beds`)), [409, 'project_link_in_use'])
  const refused = await garden.request('DELETE', '/v1/channels/beds')
  t.deepEqual(codeOf(refused), [409, 'channel_in_use'])
  t.regex(refused.body.detail, /the project garden links it until holdfast projects channels unlink garden beds\.$/u)
  await garden.make('PUT', '/v1/projects/garden/tasks/t', { clear_discussion: true })
  await garden.make('DELETE', '/v1/projects/garden/channels/beds')
  await garden.make('DELETE', '/v1/channels/beds')
})

test('projects-12: a session that is a member of a project is not ended', async (t) => {
  const garden = await startGarden(t)
  const end = (id: string) => garden.request('POST', `/v1/sessions/${id}/end`, {})
  const refused = await end('s2')
  t.deepEqual(codeOf(refused), [409, 'session_end_refused'])
  t.regex(
    refused.body.detail,
    /it is a member of the project garden, which it leaves with holdfast projects members remove garden \w+\.$/u,
  )
  await garden.make('DELETE', `/v1/projects/garden/members/${bob.member_id}`)
  t.is((await end('s2')).status, 200)
  t.is((await end('s3')).status, 200)
})

test('projects-8, projects-10: what one commit would write to channels is bounded in bytes too', async (t) => {
  const garden = await startGarden(t)
  const ids = Array.from({ length: 45 }, (_, n) => `c${n}`)
  await channels(garden, ...ids)
  const tags = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(100, 'é'))
  const members = Array.from({ length: 40 }, (_, n) => ({ ...cleo, member_id: `m${n}`, expertise_tags: tags }))
  const project = { project_id: 'heavy', display_name: 'Heavy', members }
  const links = (count: number) => ({
    ...project,
    channel_links: ids.slice(0, count).map((channel_id) => ({ channel_id, mirror_members: true })),
  })
  t.deepEqual(codeOf(await garden.request('POST', '/v1/projects', links(45))), [400, 'project_limit'])
  t.is((await garden.make('GET', '/v1/channels/c0')).member_count, 0)
  t.is((await garden.request('POST', '/v1/projects', links(2))).status, 201)
})
