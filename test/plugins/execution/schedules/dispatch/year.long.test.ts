import test from 'ava'
import { end, judge, live, records } from '../../../../support/schedule-year.js'

const seed = Number(process.env['SCHEDULE_SEED'] ?? 20_260_101)

test(`a year of ten schedules with kills and clock jumps fires each moment once, by its policy (seed ${seed})`, async (t) => {
  const year = await live(seed)
  const total = judge(t, year)
  t.log(`seed ${seed}: ${total} runs, ${year.deaths} deaths, ${year.stretches.length} stretches`)
  t.true(total > 3000 && year.deaths > 8)
  for (const { schedule_id } of records) {
    const record = year.life.store.schedules.find(schedule_id)
    t.true(record?.status === 'active' && (record.next_fire_at_ms ?? 0) > end, 'no next fire is in the past')
  }
})
