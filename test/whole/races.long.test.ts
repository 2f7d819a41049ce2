/** Fifty requests at once with one idempotency key have one effect, on every route that takes such a key. */
import test from 'ava'
import { startTestDaemon, type Answer, type Reachable } from '../support/daemon.js'
import { operationsOf } from './client.js'
import { races, type Race } from './races.js'

const width = 50
const key = 'one-key'

/** The keys of uploads are those of their source, with a problem and races of their own (observations-7). */
const ofSources = 'observations.upload'
const keyed = async (daemon: Reachable) =>
  operationsOf((await daemon.request('GET', '/v1/openapi.json')).body).filter(
    ({ id, parameters }) =>
      id !== ofSources &&
      parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key'),
  )

const together = ({ request }: Reachable, race: Race, numberOf: (at: number) => number): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: width }, (_, at) =>
      request(
        'POST',
        race.path,
        { ...race.body(numberOf(at)), ...(at % 2 === 0 && { [race.field ?? 'idempotency_key']: key }) },
        at % 2 === 0 ? {} : { 'idempotency-key': key },
      ),
    ),
  )

const kindOf = ({ status, body }: Answer): string => `${status} ${body.code ?? body.run_id ?? body.session_id}`

test('every keyed route has a race', async (t) => {
  const operations = await keyed(await startTestDaemon(t))
  t.deepEqual(operations.map(({ id }) => id).toSorted(), Object.keys(races))
  t.deepEqual(
    operations.filter(({ method }) => method !== 'POST'),
    [],
  )
})

test('http-17: fifty equal requests at once, in header and body, have one effect and one answer', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { 'log-level': 'error' } })
  for (const [id, start] of Object.entries(races)) {
    const race = await start(daemon)
    const answers = await together(daemon, race, () => 0)
    t.deepEqual(
      [...new Set(answers.map(kindOf))].map((kind) => kind.slice(0, 1)),
      ['2'],
      id,
    )
    t.is((await race.effects()).length, 1, id)
    t.is(
      (await daemon.request('POST', race.path, race.body(1), { 'idempotency-key': key })).body.code,
      'idempotency_conflict',
      id,
    )
    t.is((await race.effects()).length, 1, id)
  }
})

test('http-17: of fifty different requests at once with one key one has an effect, and the others are told', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { 'log-level': 'error' } })
  for (const [id, start] of Object.entries(races)) {
    const race = await start(daemon)
    const answers = await together(daemon, race, (at) => at)
    const bodies = answers.map((_, at) => JSON.stringify(race.body(at)))
    const chosen = bodies[answers.findIndex(({ status }) => status < 300)]
    t.truthy(chosen, id)
    for (const [at, answer] of answers.entries()) {
      if (bodies[at] === chosen) t.true(answer.status < 300, `${id}: ${answer.text}`)
      else t.is(kindOf(answer), '409 idempotency_conflict', id)
    }
    t.is((await race.effects()).length, 1, id)
  }
})
