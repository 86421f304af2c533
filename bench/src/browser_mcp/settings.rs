//! A page of settings: a form with fields of all kinds, in groups, with help texts.

/// Returns the page.
pub(super) fn html() -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Settings – Team calendar</title><style>{STYLE}</style>\
         <header><a href='/'>Team calendar</a></header><div class=page>\
         <aside><nav aria-label=Settings><ul><li><a href='/settings/general' aria-current=page>General</a></li>\
         <li><a href='/settings/members'>Members</a></li><li><a href='/settings/billing'>Billing</a></li>\
         <li><a href='/settings/integrations'>Integrations</a></li><li><a href='/settings/security'>Security</a></li>\
         </ul></nav></aside><main><h1>General settings</h1>\
         <p>These settings are for the whole team. Members can change <a href='/me/notifications'>their own \
         notifications</a> and <a href='/me/language'>their language</a> at any time.</p>\
         <form>{PROFILE}{PLACE}{HOURS}{NOTICES}{LOOKS}{DANGER}\
         <div class=bar><button type=submit>Save changes</button><button type=button>Cancel</button></div></form>\
         </main></div></html>"
    )
}

const STYLE: &str = "body{font:15px sans-serif}.page{display:flex}.field{margin:12px 0}.field label{display:block}\
    .help{color:#666;font-size:13px;margin:2px 0}.bar{display:flex;gap:8px}";

const PROFILE: &str = "<fieldset><legend>Team</legend>\
    <div class=field><label for=name>Team name</label><input id=name value='Harbour crew' required \
    aria-describedby=name-help><p class=help id=name-help>Shown to everyone you invite.</p></div>\
    <div class=field><label for=address>Address of the calendar</label><input id=address value=harbour-crew \
    aria-describedby=address-help><p class=help id=address-help>Letters, digits and hyphens. Old links stop \
    working when you change it.</p></div>\
    <div class=field><label for=mail>Contact e-mail</label><input id=mail type=email value='crew@harbour.example'></div>\
    <div class=field><label for=phone>Phone</label><input id=phone type=tel placeholder='+49 …'></div>\
    <div class=field><label for=site>Website</label><input id=site type=url placeholder='https://'></div>\
    <div class=field><label for=about>About the team</label><textarea id=about rows=3>We move boats and people.\
    </textarea><p class=help>At most 300 characters.</p></div>\
    <div class=field><label for=logo>Logo</label><input id=logo type=file accept='image/*'>\
    <p class=help>PNG or SVG, at least 128 pixels wide.</p></div></fieldset>";

const PLACE: &str = "<fieldset><legend>Language and place</legend>\
    <div class=field><label for=language>Language</label><select id=language><option>English<option>Deutsch\
    <option>Français<option>Español<option>Polski<option>Português</select></div>\
    <div class=field><label for=zone>Time zone</label><select id=zone><option>London<option selected>Berlin\
    <option>Athens<option>New York<option>Chicago<option>Los Angeles<option>Tokyo<option>Sydney</select>\
    <p class=help>Meetings keep their time in this zone.</p></div>\
    <div class=field><label for=week>First day of the week</label><select id=week><option>Monday<option>Saturday\
    <option>Sunday</select></div>\
    <div class=field role=radiogroup aria-labelledby=date-label><span id=date-label>Date format</span>\
    <label><input type=radio name=date checked> 31.12.2026</label><label><input type=radio name=date> 12/31/2026</label>\
    <label><input type=radio name=date> 2026-12-31</label></div></fieldset>";

const HOURS: &str = "<fieldset><legend>Working hours</legend>\
    <div class=field><label for=start>Start</label><input id=start type=time value='09:00'></div>\
    <div class=field><label for=end>End</label><input id=end type=time value='17:30'></div>\
    <div class=field><label for=length>Usual length of a meeting, in minutes</label>\
    <input id=length type=number value=30 min=5 step=5></div>\
    <div class=field><label for=gap>Break between meetings</label><input id=gap type=range min=0 max=30 value=10></div>\
    <div class=field><label for=since>Holiday calendar from</label><input id=since type=date value='2026-01-01'></div>\
    </fieldset>";

const NOTICES: &str = "<fieldset><legend>Notifications</legend>\
    <p class=help>Sent to members who have not chosen anything else. See <a href='/help/notifications'>how \
    notifications work</a>.</p>\
    <div class=field><label><input type=checkbox checked> Invitations to meetings</label></div>\
    <div class=field><label><input type=checkbox checked> Changes of time or place</label></div>\
    <div class=field><label><input type=checkbox> A summary every Monday</label></div>\
    <div class=field><label><input type=checkbox disabled> Text messages</label>\
    <p class=help>Part of the Business plan. <a href='/settings/billing'>Compare plans</a></p></div>\
    <div class=field><label for=remind>Remind before a meeting</label><select id=remind><option>Never\
    <option>5 minutes<option selected>10 minutes<option>30 minutes<option>1 hour<option>1 day</select></div></fieldset>";

const LOOKS: &str = "<fieldset><legend>Appearance</legend>\
    <div class=field role=radiogroup aria-labelledby=theme-label><span id=theme-label>Theme</span>\
    <label><input type=radio name=theme checked> As the system</label><label><input type=radio name=theme> Light</label>\
    <label><input type=radio name=theme> Dark</label></div>\
    <div class=field><label for=colour>Accent colour</label><input id=colour type=color value='#0a6cff'></div>\
    <div class=field><button type=button role=switch aria-checked=true>Show weekends</button></div>\
    <div class=field><button type=button role=switch aria-checked=false>Compact rows</button></div></fieldset>";

const DANGER: &str = "<section aria-labelledby=danger><h2 id=danger>Close this team</h2>\
    <p>All calendars are deleted after 30 days. Until then, an owner can undo it.</p>\
    <div class=field><label for=password>Your password</label><input id=password type=password autocomplete=off></div>\
    <button type=button>Close the team …</button></section>";
