import test from 'ava'
import { createCommandLine } from '../../support/command-line.js'
import { startTestDaemon } from '../../support/daemon.js'

const more = /^There are more, (\d+) in all: --cursor (\S+)$/mu

test('command-line-5: a list says that there are more, and goes on where it ended', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const ids = ['a', 'b', 'c']
  for (const session_id of ids) {
    await daemon.request('POST', '/v1/sessions', { session_id })
    await daemon.request('POST', `/v1/sessions/${session_id}/input`, { content: 'Hello' })
  }
  for (const id of Array.from({ length: 51 }, (_, at) => `p${at + 10}`))
    await daemon.request('POST', '/v1/personas', { persona_id: id, display_name: id })
  const all = async (...words: string[]): Promise<string[]> => {
    const lines: string[] = []
    for (let cursor: string[] = []; ;) {
      const { out, err } = await line(...words, ...cursor)
      t.is(err, '')
      const [told = '', total, next] = more.exec(out) ?? []
      lines.push(...out.split('\n').filter((one) => one !== '' && one !== told))
      if (next === undefined) return lines
      t.is(total, words[0] === 'personas' ? '51' : '3')
      cursor = ['--cursor', next]
    }
  }
  const first = (lines: string[]): string[] => lines.map((one) => one.split(' ', 1).join(''))
  t.deepEqual(first(await all('sessions', 'list', '--limit', '2')), ids)
  const runs = (await daemon.request('GET', '/v1/runs?priority_active=true')).body.map(({ run_id }: any) => run_id)
  t.deepEqual(first(await all('runs', 'list', '--limit', '1')), runs)
  t.is((await all('personas', 'list')).length, 51)
  t.notRegex((await line('sessions', 'list')).out, more)
  const json = await line('sessions', 'list', '--limit', '2', '--output', 'json')
  t.deepEqual(
    JSON.parse(json.out).map(({ session_id }: any) => session_id),
    ['a', 'b'],
  )
  for (const words of [
    ['deliveries', 'list'],
    ['deliveries', 'dead-letter'],
    ['schedules', 'list'],
  ])
    t.regex((await line(...words, '--cursor', 'x')).err, /cursor/u, words.join(' '))
})
