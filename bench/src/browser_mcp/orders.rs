//! A page of an office: a table of orders with a toolbar, filters, tabs and actions in every row.

use std::fmt::Write;

const N_ORDERS: usize = 40;
const CUSTOMERS: [&str; 8] = [
    "Maria Kowalska",
    "Jonas Berg",
    "Aïcha Benali",
    "Tom O’Brien",
    "Priya Natarajan",
    "Lucía Fernández",
    "Chen Wei",
    "Hannah Schmidt",
];
const STATES: [&str; 5] = ["Paid", "Packed", "Shipped", "Delivered", "Returned"];

/// Returns the page.
pub(super) fn html() -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Orders – Back office</title><style>{STYLE}</style>\
         <header class=bar><a href='/' class=logo><img src='/logo.svg' alt='Back office'></a>\
         <nav aria-label='Main'><ul class=bar><li><a href='/dashboard'>Dashboard</a></li>\
         <li><a href='/orders' aria-current=page>Orders</a></li><li><a href='/products'>Products</a></li>\
         <li><a href='/customers'>Customers</a></li><li><a href='/reports'>Reports</a></li></ul></nav>\
         <button aria-haspopup=menu aria-expanded=false aria-label='Account of Hannah Schmidt'>HS</button></header>\
         <main><div class=bar><h1>Orders</h1><button class=primary>New order</button></div>\
         <div role=tablist aria-label='Orders by state' class=bar>{tabs}</div>\
         <div role=tabpanel aria-labelledby=tab-0>{filters}\
         <div role=toolbar aria-label='Selected orders' class=bar><button disabled>Print labels</button>\
         <button disabled>Mark as shipped</button><button>Export as CSV</button>\
         <span>0 of 412 selected</span></div>\
         <table><thead><tr><th><input type=checkbox aria-label='Select all orders'></th>{heads}<th>Actions</th></tr>\
         </thead><tbody>{rows}</tbody></table>\
         <nav aria-label='Pages' class=bar><span>1–{N_ORDERS} of 412</span><button disabled>Previous</button>\
         <a href='?page=1' aria-current=page>1</a> <a href='?page=2'>2</a> <a href='?page=3'>3</a> <span>…</span> \
         <a href='?page=11'>11</a><button>Next</button></nav></div></main>\
         <footer><p>Prices include VAT. <a href='/help/orders'>Help with orders</a></p></footer></html>",
        tabs = tabs(),
        filters = FILTERS,
        heads = heads(),
        rows = rows(),
    )
}

const STYLE: &str = "body{font:14px sans-serif;margin:0}.bar{display:flex;gap:8px;align-items:center;list-style:none}\
    table{border-collapse:collapse;width:100%}td,th{padding:4px 8px;border-bottom:1px solid #ddd;text-align:left}\
    .badge{display:inline-block;border-radius:8px;padding:0 6px;background:#def}";

const FILTERS: &str = "<form class=bar role=search><label>Search <input type=search name=q \
    placeholder='Order, customer or e-mail'></label>\
    <label>Payment <select name=pay><option>All<option>Card<option>Invoice<option>PayPal</select></label>\
    <label>Country <select name=country><option>All<option>Germany<option>France<option>Spain<option>Poland\
    <option>Ireland</select></label>\
    <label>From <input type=date name=from></label><label>To <input type=date name=to></label>\
    <label><input type=checkbox name=open> Only open ones</label>\
    <button type=submit>Apply</button><button type=reset>Reset</button></form>";

fn tabs() -> String {
    let mut tabs = String::new();
    for (n, (name, count)) in [
        ("All", 412),
        ("Paid", 31),
        ("Packed", 12),
        ("Shipped", 58),
        ("Returned", 9),
    ]
    .into_iter()
    .enumerate()
    {
        // Writing to a string cannot fail.
        let _ = write!(
            tabs,
            "<button role=tab id=tab-{n} aria-selected={}>{name} <span class=badge>{count}</span></button>",
            n == 0
        );
    }
    tabs
}

fn heads() -> String {
    ["Order", "Date", "Customer", "Items", "Total", "Status"]
        .map(|name| format!("<th scope=col><button>{name}</button></th>"))
        .concat()
}

fn rows() -> String {
    let mut rows = String::new();
    for n in 0..N_ORDERS {
        let (number, customer) = (10_480 - n, CUSTOMERS[n % CUSTOMERS.len()]);
        let (day, month) = (28 - n % 28, 10 - n / 28);
        let (items, cents) = (n % 4 + 1, 37 * n % 100);
        let total = 19 + 13 * n;
        let state = STATES[n * 3 % STATES.len()];
        let _ = write!(
            rows,
            "<tr><td><input type=checkbox aria-label='Select order {number}'></td>\
             <td><a href='/orders/{number}'>#{number}</a></td><td><time datetime='2026-{month:02}-{day:02}'>\
             {day} {} 2026</time></td><td><a href='/customers/{}'>{customer}</a></td><td>{items}</td>\
             <td>€ {total}.{cents:02}</td><td><span class=badge>{state}</span></td>\
             <td><div class=bar><button>View</button><button>Edit</button>\
             <button aria-label='More actions for order {number}' aria-haspopup=menu aria-expanded=false>⋯</button>\
             </div></td></tr>",
            if month == 10 { "Oct" } else { "Sep" },
            700 + n,
        );
    }
    rows
}
