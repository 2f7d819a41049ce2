import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { cronCases, firesOf } from './cron-fires.js'

const script = fileURLToPath(new URL('./cron-fires.js', import.meta.url))
const printed = async (zone: string): Promise<any> =>
  JSON.parse((await promisify(execFile)(process.execPath, [script, 'print'], { env: { TZ: zone } })).stdout)

test('the fires of every case of the golden table are as reckoned from the zone data', (t) => {
  const cases = cronCases()
  t.true(cases.length >= 40)
  for (const one of cases) t.deepEqual(firesOf(one), [...one.fires], `${one.why}: ${one.expression} in ${one.timezone}`)
})

test('the zone of the host changes no fire, no local time and no note', async (t) => {
  const [utc, newYork, tokyo] = await Promise.all(['UTC', 'America/New_York', 'Asia/Tokyo'].map(printed))
  t.deepEqual([utc.offset, newYork.offset, tokyo.offset], [0, 300, -540], 'the hosts are in three zones')
  t.deepEqual(
    utc.rows.map(({ fires }: any) => fires),
    cronCases().map(({ fires }) => [...fires]),
  )
  t.deepEqual(newYork.rows, utc.rows)
  t.deepEqual(tokyo.rows, utc.rows)
})
