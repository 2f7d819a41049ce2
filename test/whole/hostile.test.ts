import test from 'ava'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: 72, jsons: 36, bodies: 18 })
