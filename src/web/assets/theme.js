// Before anything is painted: the light that was chosen, where it is not the system's.
document.documentElement.dataset.theme = localStorage.getItem("pawl:theme") ?? "";
