/** Which conversation an event belongs to; docs/rules/external.md. */
import test from 'ava'
import { homeOf, identityOf, pathKeys } from '../../../../plugins/connectors/external/events/identity.js'

const discord = { name: 'discord-main', platform: 'discord' }
const mail = { name: 'mail', platform: 'email' }

test('external-18: a conversation has the session that the published vectors say', (t) => {
  const thread = { path: ['guild-1', 'channel-2', 'thread-3'] }
  t.is(identityOf(discord, { thread })?.natural, 'external:discord-main:31a92909d809154e')
  t.is(identityOf(mail, { routing_key: 'mailbox:ops' })?.natural, 'external:mail:8fafaffb87a673a1')
  t.is(identityOf(mail, { routing_key: '  mailbox:ops ' })?.natural, 'external:mail:8fafaffb87a673a1')
  const both = identityOf(discord, { thread, routing_key: 'x' })
  t.is(both?.natural, 'external:discord-main:31a92909d809154e', 'a thread is what it is known by')
  t.is(
    identityOf(mail, { thread: { path: [] }, routing_key: 'mailbox:ops' })?.natural,
    'external:mail:8fafaffb87a673a1',
  )
  t.is(identityOf(mail, {}), undefined)
  t.is(identityOf(mail, { thread: { path: [] }, routing_key: ' ' }), undefined)
})

test('external-19: keys are those of the vectors, each beginning of a path has its own, and none is too long', (t) => {
  const start = 'external:discord-main:ZGlzY29yZA:Z3VpbGQtMQ'
  t.deepEqual(pathKeys(discord, ['guild-1', 'channel-2']), [start, `${start}:Y2hhbm5lbC0y`])
  t.is(identityOf(discord, { thread: { path: ['guild-1', 'channel-2'] } })?.key, `${start}:Y2hhbm5lbC0y`)
  t.is(identityOf(mail, { routing_key: 'mailbox:ops' })?.key, 'external:mail:ZW1haWw:route:bWFpbGJveDpvcHM')
  const long = identityOf(discord, { thread: { path: ['x'.repeat(4000), 'y'] } })
  const other = identityOf(discord, { thread: { path: ['x'.repeat(4000), 'z'] } })
  t.regex(long?.key ?? '', /^external:discord-main:sha256:[0-9a-f]{64}$/u)
  t.not(long?.key, other?.key)
  t.not(
    identityOf(discord, { thread: { path: ['a', 'b'] } })?.key,
    identityOf(discord, { thread: { path: ['a:b'] } })?.key,
    'a part cannot pass for two',
  )
})

test('external-19: a conversation goes where its own key leads, and beside it none is drawn in', (t) => {
  const bound = new Map<string, string>()
  const find = (key: string) => bound.get(key)
  const at = (path: string[], more: object = {}) =>
    homeOf(identityOf(discord, { thread: { path } }), { find, fixed: undefined, additional: [], ...more })
  const send = (path: string[], more: object = {}) => {
    const home = at(path, more)
    for (const key of home.binding_keys) bound.set(key, home.session_id ?? '')
    return home.session_id
  }
  const [first, second] = [send(['guild', 'one']), send(['guild', 'two'])]
  t.not(first, second, 'conversations side by side stay apart')
  t.is(send(['guild', 'one']), first)
  const channel = send(['guild'])
  t.not(channel, first)
  t.not(send(['guild', 'three']), channel, 'one within another is its own')

  bound.clear()
  bound.set(pathKeys(discord, ['guild'])[0] ?? '', 'the-team')
  t.is(send(['guild', 'one']), 'the-team', 'somebody bound all that is around it')
  bound.set(pathKeys(discord, ['guild', 'two'])[1] ?? '', 'apart')
  t.is(send(['guild', 'two', 'deep']), 'apart', 'the most particular one leads')
  t.is(send(['guild', 'four', 'deep']), 'the-team')

  bound.clear()
  t.is(send(['guild', 'one'], { fixed: 'fixed' }), 'fixed')
  const kept = at(['guild', 'one'], { fixed: 'other' })
  t.deepEqual(kept.binding_keys, [], 'a key that leads elsewhere is left where it is')
  t.is(kept.session_id, 'other')

  bound.clear()
  const alone = send(['guild', 'one'])
  const additional = ['team']
  const joined = send(['guild', 'two'], { additional })
  t.is(send(['guild', 'three'], { additional }), joined, 'a key of all of its sessions leads to one session')
  t.is(send(['guild', 'one'], { additional }), alone, 'but for conversations that had one')
  t.deepEqual(at(['guild', 'one'], { additional }).binding_keys, [
    identityOf(discord, { thread: { path: ['guild', 'one'] } })?.key,
  ])
})
