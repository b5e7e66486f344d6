import { render } from 'preact';
import { App } from './app.js';
import { liveData } from './data/live-data.js';

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element with the id app');
liveData.start();
render(<App />, root);
