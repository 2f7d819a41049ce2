import test from 'ava'
import { isZone } from '../../../../core/base/time/zone.js'

test('names of zones are told from offsets, abbreviations of nothing and other text', (t) => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3']) t.true(isZone(name), name)
  for (const name of ['', '+02:00', '02:00', 'Mars/Olympus', '../../etc/passwd', 'Europe/Berlin\n'])
    t.false(isZone(name), name)
})
